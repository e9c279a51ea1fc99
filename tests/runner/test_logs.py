"""Events of processes that run for long."""

from __future__ import annotations

import ast
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from headwater.runner.logs import WORDS, LogFormat, LogSettings, configure_logs
from headwater.vocabulary.errors import ConfigInvalid
from headwater.vocabulary.settings import RunnerSettings

PACKAGE = Path(__file__).parents[2] / "headwater"
LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in [each for each in root.handlers if each not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    structlog.reset_defaults()


def events(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_events_are_json_lines(tmp_path: Path) -> None:
    """Each event is one object with its fields, ours and those of libraries alike."""
    file = tmp_path / "new" / "headwater.log"
    configure_logs(LogSettings(LogFormat.JSON, file=file))
    structlog.get_logger("headwater.runner").info("refreshed", view="revenue", seconds=0.5)
    logging.getLogger("somebody").warning("their %s", "words")
    logging.getLogger("py4j.clientserver").info("noise")
    structlog.get_logger("headwater.runner").debug("detail")
    ours, theirs = events(file)
    assert (ours["event"], ours["view"], ours["seconds"]) == ("refreshed", "revenue", 0.5)
    assert (ours["level"], ours["logger"]) == ("info", "headwater.runner")
    assert str(ours["timestamp"]).endswith("Z")
    assert (theirs["event"], theirs["level"]) == ("their words", "warning")


def test_a_traceback_is_a_field(tmp_path: Path) -> None:
    """An exception stays one line in JSON."""
    file = tmp_path / "headwater.log"
    configure_logs(LogSettings(LogFormat.JSON, file=file))
    try:
        _ = 1 // 0
    except ZeroDivisionError:
        structlog.get_logger("headwater").exception("callback_failed", job="j")
    (event,) = events(file)
    assert "ZeroDivisionError" in str(event["exception"])


def test_a_log_file_is_bounded(tmp_path: Path) -> None:
    """However much is written, the files together stay below their limit."""
    file = tmp_path / "headwater.log"
    configure_logs(LogSettings(LogFormat.JSON, file=file, megabytes=0.01, older=2))
    log = structlog.get_logger("headwater")
    for number in range(2000):
        log.info("refreshed", view=f"v{number}")
    files = sorted(tmp_path.iterdir())
    assert [found.name for found in files] == [
        "headwater.log",
        "headwater.log.1",
        "headwater.log.2",
    ]
    assert sum(found.stat().st_size for found in files) <= 3 * 0.01 * 2**20
    assert "v1999" in file.read_text()


def test_people_get_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """On the console an event is one plain line on stderr; called again, it is not doubled."""
    configure_logs()
    configure_logs()
    structlog.get_logger("headwater").info("leading", term=3)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"\S+Z \[info +\] leading +\[headwater\] term=3\n", err)


def test_bad_settings_are_told(tmp_path: Path) -> None:
    """An unknown level, or a file that cannot be written, is a coded error."""
    with pytest.raises(ConfigInvalid, match="loud"):
        configure_logs(LogSettings(level="loud"))
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigInvalid, match="log cannot be written"):
        configure_logs(LogSettings(file=tmp_path / "file" / "headwater.log"))


def test_every_word_is_documented() -> None:
    """The operations page lists the fields with their meanings."""
    page = (PACKAGE.parent / "docs" / "operations.md").read_text("utf-8")
    for word, meaning in WORDS.items():
        assert f"| `{word}` | {meaning} |" in page


def logged() -> Iterator[tuple[str, ast.Call]]:
    """Every call of a logger in the package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in LEVELS
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "log"
            ):
                yield f"{file.relative_to(PACKAGE)}:{node.lineno}", node


def test_events_use_one_word_per_concept() -> None:
    """Every field of every event is one of the shared words, and every event a plain name."""
    found = list(logged())
    assert found, "the search finds nothing any more"
    for place, call in found:
        unknown = {keyword.arg for keyword in call.keywords} - WORDS.keys() - {"exc_info", None}
        assert not unknown, f"{place}: {unknown}"
        event = call.args[0]
        if isinstance(event, ast.Constant):
            assert re.fullmatch(r"[a-z][a-z_]*", str(event.value)), place


def test_settings_become_a_log(tmp_path: Path) -> None:
    """headwater.toml's words are the log's; a file is found from the project's folder."""
    assert LogSettings.of(RunnerSettings(), tmp_path) == LogSettings()
    chosen = LogSettings.of(RunnerSettings(log_format="json", log_file="a/b.log"), tmp_path)
    assert (chosen.format, chosen.file) == (LogFormat.JSON, tmp_path / "a" / "b.log")
    with pytest.raises(ConfigInvalid, match="xml"):
        LogSettings.of(RunnerSettings(log_format="xml"), tmp_path)
