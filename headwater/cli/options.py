"""Options and arguments that several verbs share, said once."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path


class Format(StrEnum):
    """Who reads the output."""

    TEXT = "text"  # people
    JSON = "json"  # programs


def add_output(parser: ArgumentParser) -> None:
    """`-o text|json`, which every verb has."""
    parser.add_argument(
        "-o",
        "--output",
        choices=[form.value for form in Format],
        default=Format.TEXT.value,
        help="text for people (default), json for programs",
    )


def add_project(parser: ArgumentParser) -> None:
    """`-C DIR`, which every verb has that works on a project."""
    parser.add_argument(
        "-C",
        "--project",
        metavar="DIR",
        type=Path,
        help="project folder (default: this one, or the nearest above with a headwater.toml)",
    )


def add_view(parser: ArgumentParser) -> None:
    parser.add_argument("view", metavar="V", help="a view")


def add_views(parser: ArgumentParser) -> None:
    parser.add_argument("views", metavar="V", nargs="*", help="views (default: all)")


def add_sql(parser: ArgumentParser) -> None:
    parser.add_argument("--sql", action="store_true", help="print the statements of each step")


def add_every(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--every",
        metavar="SECONDS",
        type=positive(float),
        default=2.0,
        help="with --watch: how often to look (default: 2)",
    )


def positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    """A number above zero, as an option's type."""
    return _at_least(kind, lambda value: value > 0, "above 0")


def natural(text: str) -> int:
    """A version number, as an option's type."""
    return int(_at_least(int, lambda value: value >= 0, "0 or more")(text))


def _at_least(
    kind: Callable[[str], float], accepts: Callable[[float], bool], wanted: str
) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is not a number") from None
        if not accepts(value):
            raise ArgumentTypeError(f"{text} is not {wanted}")
        return value

    return read


def asked_format(arguments: list[str]) -> Format:
    """The format a command line asks for, also where the rest of it makes no sense."""
    for at, word in enumerate(arguments):
        if word in {"-o", "--output"} and arguments[at + 1 : at + 2] == ["json"]:
            return Format.JSON
        if word in {"-ojson", "--output=json"}:
            return Format.JSON
    return Format.TEXT
