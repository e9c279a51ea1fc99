"""From the words of a command line to a verb and what it was given.

The verb comes first and has a parser of its own, so only that verb's module is loaded, and options
may stand among the names of views.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from inspect import getdoc
from typing import IO, Any, NoReturn

from headwater.cli.verbs import VERBS
from headwater.vocabulary.errors import WrongUse

_ABOUT = "Materialized views on Spark and Delta Lake that follow their sources' changes."


class HelpShown(Exception):
    """Help was asked for and printed; there is nothing else to do."""


@dataclass(frozen=True)
class Call:
    """A verb's function and its arguments by name."""

    run: Callable[..., int | None]
    given: dict[str, Any]


class Parser(ArgumentParser):
    """Raises instead of leaving the process, and prints where it is told to."""

    def __init__(self, verb: str, about: str, stdout: IO[str]) -> None:
        super().__init__(
            prog=f"headwater {verb}",
            description=about,
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._stdout = stdout

    def error(self, message: str) -> NoReturn:
        raise WrongUse(message, hint=f"`{self.prog} --help` tells how to use it")

    def exit(self, *_args: object, **_named: object) -> NoReturn:
        raise HelpShown

    def print_help(self, file: Any = None) -> None:
        super().print_help(file or self._stdout)


def read_call(words: Sequence[str], stdout: IO[str]) -> Call:
    """The call that a command line asks for."""
    if not words:
        raise WrongUse("no verb was given", hint="`headwater --help` lists them")
    verb, *rest = words
    if verb in {"-h", "--help", "help"}:
        stdout.write(overview())
        raise HelpShown
    if verb == "--version":
        verb = "version"
    if verb not in VERBS:
        raise WrongUse(f"there is no verb {verb!r}", hint=_meant(verb))
    module = import_module(f"headwater.cli.verbs.{verb}")
    run = getattr(module, verb)
    parser = Parser(verb, getdoc(run) or "", stdout)
    module.options(parser)
    return Call(run, vars(parser.parse_intermixed_args(rest)))


def overview() -> str:
    """All verbs, a line each."""
    width = max(map(len, VERBS))
    lines = [f"  {verb:<{width}}  {_summary(verb)}" for verb in VERBS]
    usage = "usage: headwater VERB [...] [-o text|json] [-C DIR]"
    more = "`headwater VERB --help` tells more about one of them."
    return "\n".join([usage, "", _ABOUT, "", *lines, "", more, ""])


def _summary(verb: str) -> str:
    run = getattr(import_module(f"headwater.cli.verbs.{verb}"), verb)
    return (getdoc(run) or "").split("\n")[0].rstrip(".")


def _meant(verb: str) -> str:
    near = get_close_matches(verb, VERBS, n=2)
    if near:
        return f"did you mean {' or '.join(f'`headwater {word}`' for word in near)}?"
    return "`headwater --help` lists the verbs"
