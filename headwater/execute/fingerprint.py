"""What a Python function does, as a hash: its code and whatever of its own the code refers to.

A function of a module that can be imported is pickled by its name, so its pickle stays the same
when its body is edited. So the code itself is looked at: not where it stands in which file, but its
instructions, constants and names, and behind the names the functions, classes and plain values of
the same package. What other packages do is known by name only.
"""

from __future__ import annotations

import copyreg
import hashlib
import sys
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_PLAIN = (bool, bytes, complex, float, int, str, type(None), type(Ellipsis))
_WRAPPERS = (classmethod, staticmethod)
_FOREIGN = sys.stdlib_module_names | {"numpy", "pandas", "pyarrow", "pyspark"}


def fingerprint(value: object) -> str:
    """Equal for functions that do the same by the same words."""
    description = "\n".join(_Describing().described(value))
    return hashlib.sha256(description.encode("utf-8", "surrogatepass")).hexdigest()


class _Describing:
    """One walk over a function and what it refers to; nothing is visited twice.

    A function that is handed over, in a closure or as an argument, is one's own wherever it is
    from; of those that are only named, the ones of the packages that are one's own.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, object]] = {}
        self._packages: set[str] = set()

    def described(self, value: object) -> Iterator[str]:
        if isinstance(value, _PLAIN):
            yield f"{type(value).__name__} {value!r}"
        elif isinstance(value, tuple):
            yield from self._all(type(value).__name__, value)
        elif isinstance(value, CodeType):
            yield from self._code(value)
        elif id(value) in self._seen:
            yield f"number {self._seen[id(value)][0]}"
        else:
            self._seen[id(value)] = (len(self._seen), value)
            yield from self._of_new(value)

    def _of_new(self, value: object) -> Iterator[str]:
        if isinstance(value, list):
            yield from self._all("list", value)
        elif isinstance(value, (set, frozenset)):
            yield from (type(value).__name__, *sorted(map(repr, value)))
        elif isinstance(value, dict):
            yield from self._all("dict", (part for pair in value.items() for part in pair))
        elif isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, MethodType):
            yield from self._all("method", (value.__func__, value.__self__))
        elif isinstance(value, (BuiltinFunctionType, ModuleType)):
            yield _name_of(value)
        else:
            yield from self._object(value)

    def _all(self, word: str, values: Iterable[object]) -> Iterator[str]:
        yield word
        for value in values:
            yield from self.described(value)
        yield f"end of {word}"

    def _code(self, code: CodeType) -> Iterator[str]:
        shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        jumps = getattr(code, "co_exceptiontable", b"")
        yield from self._all("code", (code.co_code, jumps, *shape, *code.co_names))
        yield from self._all("constants", code.co_consts)

    def _function(self, function: FunctionType) -> Iterator[str]:
        if self._is_foreign(function):
            yield _name_of(function)
            return
        yield from self._code(function.__code__)
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
        yield from self._all("given", (function.__defaults__, function.__kwdefaults__, *cells))
        names = _names(function.__code__)
        for name in names:
            if name in function.__globals__:
                yield name
                yield from self._named(function.__globals__[name], names)

    def _named(self, value: object, names: Iterable[str] = ()) -> Iterator[str]:
        """What is not handed over but named; of a module, what else of the names it holds."""
        is_own = _package_of(value) in self._packages
        if isinstance(value, ModuleType) and is_own and id(value) not in self._seen:
            self._seen[id(value)] = (len(self._seen), value)
            for name in names:
                if name in vars(value):
                    yield name
                    yield from self._named(vars(value)[name], names)
        elif isinstance(value, (FunctionType, type)) and not is_own:
            yield _name_of(value)
        else:
            yield from self.described(value)

    def _class(self, class_: type) -> Iterator[str]:
        yield _name_of(class_)
        if self._is_foreign(class_):
            return
        for name, member in sorted(vars(class_).items()):
            if not name.startswith("__") or isinstance(member, FunctionType):
                yield name
                yield from self._named(_unwrapped(member))
        for base in class_.__bases__:
            yield from self._named(base)

    def _object(self, value: object) -> Iterator[str]:
        """Whatever else there is, by the parts that a pickle of it would have."""
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            parts: Any = reduce(value) if reduce is not None else value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001  (what cannot be pickled is known by its class)
            parts = ()
        plain = [list(part) if isinstance(part, Iterator) else part for part in _as_parts(parts)]
        wrapped = getattr(value, "__wrapped__", None)
        yield from self._all("object", (type(value), wrapped, *plain))

    def _is_foreign(self, value: object) -> bool:
        package = _package_of(value)
        if package not in _FOREIGN:
            self._packages.add(package)
        return package in _FOREIGN


def _as_parts(parts: object) -> tuple[object, ...]:
    return parts if isinstance(parts, tuple) else (parts,)


def _is_full(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _names(code: CodeType) -> list[str]:
    """The names of a function and of the functions inside it."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    found = [*code.co_names, *(name for each in inner for name in _names(each))]
    return list(dict.fromkeys(found))


def _unwrapped(member: object) -> object:
    if isinstance(member, _WRAPPERS):
        return member.__func__
    if isinstance(member, property):
        return (member.fget, member.fset)
    return member


def _package_of(value: object) -> str:
    named = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return str(named).partition(".")[0]


def _name_of(value: object) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    owner, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
    return f"{owner}.{name}"
