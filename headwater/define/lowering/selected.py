"""The select list: names, expressions over ids, and a generator if there is one."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from headwater.define.lowering import functions
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import function_name, resolve
from headwater.define.lowering.generators import generated
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.define.lowering.stars import meant, star_of
from headwater.vocabulary.algebra import column


@dataclass(frozen=True)
class Generator:
    """A generator of the select list: `SELECT k, explode(list) AS x`."""

    call: exp.Expr
    ids: tuple[str, ...]


@dataclass
class Selected:
    """The select list while it is resolved: names, expressions over ids, and earlier aliases."""

    names: list[str] = field(default_factory=list)
    expressions: list[exp.Expr] = field(default_factory=list)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    generator: Generator | None = None
    unsure: list[bool] = field(default_factory=list)  # whose names Spark makes up

    def add(self, name: str, expression: exp.Expr, *, aliased: bool, unsure: bool = False) -> None:
        self.names.append(name)
        self.expressions.append(expression)
        self.unsure.append(unsure)
        if aliased:
            self.aliases.setdefault(name.lower(), expression)

    @property
    def generated(self) -> frozenset[str]:
        return frozenset(self.generator.ids) if self.generator is not None else frozenset()


def select_list(context: Lowering, select: exp.Select, scope: Scope) -> Selected:
    """Resolve every item; later ones may name the aliases of earlier ones."""
    selected = Selected()
    for index, written in enumerate(select.expressions):
        call = written.this if isinstance(written, (exp.Alias, exp.Aliases)) else written
        if star_of(written) is not None:
            _add_star(context, selected, written, scope)
        elif isinstance(call, exp.Func) and function_name(call) in functions.GENERATORS:
            _add_generator(context, selected, written, call, scope)
        elif isinstance(written, exp.Alias):
            resolved = resolve(context, written.this, scope, selected.aliases)
            selected.add(written.alias, resolved, aliased=True)
        elif isinstance(written, exp.Aliases):
            raise NotLoweredError("GENERATOR", "several names for one value")
        else:
            resolved = resolve(context, written, scope, selected.aliases)
            named = isinstance(written, (exp.Column, exp.Dot))
            name = written.name if named else f"_c{index}"
            is_field = named and isinstance(
                resolved, exp.Dot
            )  # Spark gives it its name as an alias
            selected.add(name, resolved, aliased=is_field, unsure=not named)
    return selected


def _add_star(context: Lowering, selected: Selected, written: exp.Expr, scope: Scope) -> None:
    for shown in meant(context, written, scope):
        is_field = isinstance(shown.value, exp.Dot)
        selected.add(shown.name, shown.value, aliased=is_field, unsure=not shown.sure)


def _add_generator(
    context: Lowering, selected: Selected, written: exp.Expr, call: exp.Expr, scope: Scope
) -> None:
    if selected.generator is not None:
        raise NotLoweredError("GENERATOR", "two generators in one select list")
    name = str(function_name(call))
    given: tuple[str, ...] = ()
    if isinstance(written, exp.Alias):
        given = (written.alias,)
    elif isinstance(written, exp.Aliases):
        given = tuple(alias.name for alias in written.expressions)
    arguments = [resolve(context, a, scope, selected.aliases) for a in call.iter_expressions()]
    made = generated(context, name, arguments, given)
    selected.generator = Generator(exp.Anonymous(this=name, expressions=arguments), made.ids)
    for label, id_ in zip(made.labels, made.ids, strict=True):
        selected.add(label, column(id_), aliased=False, unsure=not made.sure)
