"""What processes that run for long write to their log: events with fields, one word per concept."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Self

import structlog
from structlog.typing import Processor

from headwater.vocabulary.errors import ConfigInvalid
from headwater.vocabulary.settings import RunnerSettings

WORDS: Mapping[str, str] = {
    "account": "the tenant that a job runs for",
    "attempt": "the id of one attempt to refresh a view",
    "code": "the stable code of an error",
    "command": "what the coordinator told a runner to do",
    "count": "how many of what the event is about",
    "error": "what went wrong, in words",
    "holder": "the process that has a lease",
    "job": "a standing duty, by its name",
    "kind": "refresh, purge or build; or what an alert is about",
    "missed": "scheduled times at which no run began",
    "path": "a folder or file",
    "port": "a port of this machine",
    "reason": "why something was decided",
    "retry_at": "when a failed job is tried again",
    "rows": "rows written",
    "runner": "the id of a runner",
    "seconds": "how long it took",
    "source": "a source, by its name",
    "state": "the state that something is in now",
    "technique": "how a refresh moved its view",
    "term": "the fencing number of the coordinator",
    "version": "a version of a Delta table",
    "view": "a view, by its name",
}
"""The fields of our events, besides `event`, `level`, `logger`, `timestamp` and a traceback."""

_QUIET = ("py4j", "sqlalchemy", "alembic", "urllib3", "asyncio")
"""Libraries whose every step is nobody's business."""


class LogFormat(StrEnum):
    """For people, or one JSON object per line."""

    CONSOLE = "console"
    JSON = "json"


@dataclass(frozen=True)
class LogSettings:
    """Where the log goes; a file is kept below `megabytes`, with so many `older` ones beside it."""

    format: LogFormat = LogFormat.CONSOLE
    level: str = "info"
    file: Path | None = None
    megabytes: float = 10
    older: int = 4

    @classmethod
    def of(cls, runner: RunnerSettings, folder: Path) -> Self:
        """As headwater.toml in a folder says."""
        try:
            chosen = LogFormat(runner.log_format)
        except ValueError:
            raise ConfigInvalid(
                f"there is no log format `{runner.log_format}`", hint="console or json"
            ) from None
        file = folder / runner.log_file if runner.log_file else None
        return cls(chosen, runner.log_level, file, runner.log_megabytes, runner.log_older)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """py4j writes a trace for every call that a dead JVM does not answer; we say so ourselves."""
    return "py4j" not in record.pathname


def configure_logs(settings: LogSettings | None = None) -> None:
    """Send all events of this process, ours and libraries', one way; may be called again."""
    chosen = settings or LogSettings()
    handler = _handler(chosen)
    handler.setFormatter(_formatter(chosen, colors=_is_terminal(handler)))
    root = logging.getLogger()
    for old in [each for each in root.handlers if getattr(each, "is_headwaters", False)]:
        root.removeHandler(old)
        old.close()
    handler.addFilter(_is_worth_telling)
    handler.is_headwaters = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(_level(chosen.level))
    for library in _QUIET:
        logging.getLogger(library).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _handler(settings: LogSettings) -> logging.Handler:
    if settings.file is None:
        return logging.StreamHandler(sys.stderr)
    try:
        settings.file.parent.mkdir(parents=True, exist_ok=True)
        size = max(1, int(settings.megabytes * 2**20))
        return RotatingFileHandler(
            settings.file, maxBytes=size, backupCount=settings.older, encoding="utf-8"
        )
    except OSError as error:
        raise ConfigInvalid(
            f"the log cannot be written: {error.strerror or error}", where=str(settings.file)
        ) from error


def _formatter(settings: LogSettings, *, colors: bool) -> logging.Formatter:
    renderer: list[Processor]
    if settings.format is LogFormat.JSON:
        renderer = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        renderer = [structlog.dev.ConsoleRenderer(colors=colors)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared(),
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
    )


def _shared() -> list[Processor]:
    """What every event gets, whoever wrote it."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _level(name: str) -> int:
    found = logging.getLevelNamesMapping().get(name.upper())
    if found is None:
        raise ConfigInvalid(
            f"there is no log level `{name}`", hint="debug, info, warning, error or critical"
        )
    return found


def _is_terminal(handler: logging.Handler) -> bool:
    return type(handler) is logging.StreamHandler and handler.stream.isatty()
