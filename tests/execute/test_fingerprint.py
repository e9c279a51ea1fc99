"""A function's fingerprint is of what it does, not of where it stands."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark import cloudpickle

from headwater.execute.fingerprint import fingerprint

RATES = """
FEE = 2
def convert(x):
    return x * 3
"""
SHOP = """
import functools
import re
from decimal import Decimal

from . import rates
from .rates import FEE

NAMES = {"a": 1}
LIMIT = Decimal("1.5")
WORD = re.compile("a+")

class Tax:
    share = 7

    def of(self, x):
        return x * self.share

def half(x):
    return x / 2

@functools.lru_cache
def kept(x):
    return x - 1

def price(x, more=4):
    try:
        return [Tax().of(half(y)) + NAMES["a"] for y in (x, FEE)]
    except ValueError:
        return rates.convert(x) + LIMIT + more + kept(x) if WORD.match(x) else None
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Writes a package, imports it anew and tells the fingerprint of one of its functions."""
    folder = tmp_path / "hw_shop"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(prices: str = SHOP, rates: str = RATES) -> str:
        for name, text in (("__init__", ""), ("prices", prices), ("rates", rates)):
            (folder / f"{name}.py").write_text(text)
        _forget()
        function = importlib.import_module("hw_shop.prices").price
        pickled = cloudpickle.loads(cloudpickle.dumps(function))
        assert fingerprint(pickled) == fingerprint(function)
        return fingerprint(function)

    yield written
    _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] == "hw_shop"]:
        del sys.modules[name]


EDITS = {
    "its body": ("rates.convert(x) +", "rates.convert(x) -"),
    "what it raises past": ("except ValueError", "except KeyError"),
    "a default": ("more=4", "more=5"),
    "a function that it calls": ("x / 2", "x / 3"),
    "a function behind a wrapper": ("x - 1", "x - 2"),
    "a plain value": ('{"a": 1}', '{"a": 2}'),
    "a number of another kind": ('"1.5"', '"1.6"'),
    "a pattern": ('"a+"', '"b+"'),
    "a method of a class": ("x * self.share", "x + self.share"),
    "a value of a class": ("share = 7", "share = 8"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed(shop: Callable[..., str], edit: str) -> None:
    """Of the function, or of anything of its package that it refers to."""
    old, new = EDITS[edit]
    assert old in SHOP
    assert shop(SHOP.replace(old, new)) != shop(SHOP)


@pytest.mark.parametrize("edit", [("x * 3", "x * 4"), ("FEE = 2", "FEE = 3")])
def test_an_edit_of_another_module_is_noticed(
    shop: Callable[..., str], edit: tuple[str, str]
) -> None:
    """A name is followed into the modules of the same package."""
    assert shop(rates=RATES.replace(*edit)) != shop()


def test_where_it_stands_is_no_matter(shop: Callable[..., str]) -> None:
    """Comments, empty lines and what it does not name."""
    moved = "# a remark\n\n\n" + SHOP.replace("def half", "def third(x):\n    return x\n\ndef half")
    assert shop(moved) == shop(SHOP)


def test_functions_without_a_module() -> None:
    """Lambdas and functions inside functions, by their code and what they close over."""

    def adding(n: int) -> Callable[[int], int]:
        return lambda x: x + n

    assert fingerprint(adding(1)) == fingerprint(adding(1))
    assert fingerprint(adding(1)) != fingerprint(adding(2))
    assert fingerprint(lambda x: x * 2) == fingerprint(lambda x: x * 2)
    assert fingerprint(lambda x: x * 2) != fingerprint(lambda x: x * 3)
    assert fingerprint(lambda x: abs(x)) != fingerprint(lambda x: ord(x))  # noqa: PLW0108


def test_what_is_handed_over_is_looked_into() -> None:
    """Partial functions, methods and objects that can be called."""

    class Adding:
        def __init__(self, n: int) -> None:
            self.n = n

        def __call__(self, x: int) -> int:
            return x + self.n

    def add(x: int, y: int) -> int:
        return x + y

    def subtract(x: int, y: int) -> int:
        return x - y

    partial = functools.partial
    assert fingerprint(partial(add, 1)) == fingerprint(partial(add, 1))
    assert len({fingerprint(f) for f in (partial(add, 1), partial(add, 2), add)}) == 3
    assert fingerprint(partial(add, 1)) != fingerprint(partial(subtract, 1))
    assert fingerprint(Adding(1)) == fingerprint(Adding(1)) != fingerprint(Adding(2))
    assert fingerprint(Adding(1).__call__) != fingerprint(Adding(2).__call__)


def test_sets_and_circles() -> None:
    """The order of a set is another one in each process, and what refers to itself ends."""
    circle: list[object] = [re.compile("x")]
    circle.append(circle)
    assert fingerprint(circle) == fingerprint(circle)
    assert fingerprint({"a", "b", "c"}) == fingerprint({"c", "b", "a"})
    assert fingerprint(open) != fingerprint(print)
