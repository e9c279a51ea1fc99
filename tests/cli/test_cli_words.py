"""The command line's own words: options, statuses, errors. No project, no Spark."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from headwater.cli.as_of import read_as_of
from headwater.cli.command import Surroundings, nearest_project
from headwater.cli.main import run
from headwater.cli.options import Format, asked_format
from headwater.cli.parsing import read_call
from headwater.cli.verbs import VERBS
from headwater.vocabulary.errors import ProjectMissing, WrongUse


def ran(*arguments: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    status = run(list(arguments), Surroundings(out, err))
    return status, out.getvalue(), err.getvalue()


def test_every_verb_of_this_version_is_offered() -> None:
    """The verbs are those of the design that this version carries out, and no others."""
    names = "init demo check plan apply refresh serve status history explain verify changes"
    more = "sources jobs runners cancel pause resume drain migrate version"
    assert [*VERBS] == [*names.split(), *more.split()]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str) -> None:
    """Each verb explains itself on standard output, and takes -o text|json."""
    status, out, err = ran(verb, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: headwater {verb}")
    assert "--output" in out


def test_help_lists_all_verbs() -> None:
    """The overview has one line for each verb, none of which is cut."""
    status, out, _ = ran("--help")
    assert status == 0
    assert all(f"  {verb} " in out for verb in VERBS)
    assert max(len(line) for line in out.split("\n")) <= 80


def test_options_may_stand_among_views() -> None:
    """The order of names and options does not matter."""
    call = read_call(["refresh", "a", "--full", "b", "-o", "json"], StringIO())
    assert call.given["views"] == ["a", "b"]
    assert call.given["full"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["status", "--nonsense"],
        ["explain"],
        ["history", "--limit", "x"],
        ["history", "--limit", "0"],
        ["refresh", "--technique", "magic"],
        [],
    ],
)
def test_wrong_use_is_status_2(arguments: list[str]) -> None:
    """What cannot be understood is refused on the error stream, with the way to the help."""
    status, out, err = ran(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error [WRONG_USE]")
    assert "--help" in err


def test_wrong_use_is_json_where_json_was_asked_for() -> None:
    """A program gets its error on standard output, as JSON."""
    status, out, err = ran("status", "--nonsense", "-o", "json")
    assert (status, err) == (2, "")
    assert json.loads(out)["error"]["code"] == "WRONG_USE"


def test_a_near_miss_is_suggested() -> None:
    """A mistyped verb is answered with the verb that was meant."""
    assert "version" in ran("versoin")[2]


def test_version_names_the_parts() -> None:
    """`version` tells what a bug report needs."""
    status, out, _ = ran("version", "-o", "json")
    assert status == 0
    assert {"headwater", "python", "pyspark", "delta-spark"} <= set(json.loads(out))


def test_no_project_is_a_coded_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a project every verb says so and what to do, with status 1."""
    monkeypatch.chdir(tmp_path)
    status, _, err = ran("status")
    assert status == 1
    assert "[PROJECT_MISSING]" in err
    assert "headwater init" in err


def test_the_nearest_project_is_found(tmp_path: Path) -> None:
    """A command works from any folder below the project's."""
    (tmp_path / "headwater.toml").touch()
    below = tmp_path / "views" / "deep"
    below.mkdir(parents=True)
    assert nearest_project(below) == tmp_path
    with pytest.raises(ProjectMissing):
        nearest_project(Path(tmp_path.anchor))


def test_an_unforeseen_error_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug shows its type and how to see more, never a traceback; HEADWATER_DEBUG shows one."""
    monkeypatch.setattr(Path, "cwd", lambda: 1 / 0)
    status, _, err = ran("status")
    assert status == 1
    assert "[INTERNAL_ERROR] ZeroDivisionError" in err
    assert "HEADWATER_DEBUG" in err
    assert "Traceback" not in err
    monkeypatch.setenv("HEADWATER_DEBUG", "1")
    assert "Traceback" in ran("status")[2]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ([], None),
        (["7"], 7),
        (["Orders=7"], {"orders": 7}),
        (["orders=7,customers=2"], {"orders": 7, "customers": 2}),
        (["orders=7", "customers=2"], {"orders": 7, "customers": 2}),
    ],
)
def test_as_of_is_read(words: list[str], meant: object) -> None:
    """A version for the only source, or one for each by name."""
    assert read_as_of(words) == meant


@pytest.mark.parametrize("words", [["x"], ["orders="], ["=3"], ["1", "2"], ["a=1", "a=2"], ["-1"]])
def test_as_of_that_makes_no_sense_is_refused(words: list[str]) -> None:
    """Anything else is wrong use."""
    with pytest.raises(WrongUse):
        read_as_of(words)


def test_the_format_is_known_even_if_nothing_else_is() -> None:
    """An error in the command line itself is told in the format that was asked for."""
    assert asked_format(["-o", "json", "x"]) is Format.JSON
    assert asked_format(["x", "--output=json"]) is Format.JSON
    assert asked_format(["x", "-o"]) is Format.TEXT
