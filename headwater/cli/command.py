"""One run of one verb: what it was called with, where it prints, the project it works on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from headwater.cli.options import Format
from headwater.cli.output import JsonOutput, Output, TextOutput
from headwater.config import PROJECT_FILE, load_config
from headwater.vocabulary.clock import Clock, SystemClock
from headwater.vocabulary.errors import ProjectMissing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.api import Headwater


@dataclass(frozen=True)
class Surroundings:
    """What a command finds around it; a caller that has a Spark session may lend it."""

    stdout: IO[str] = field(default_factory=lambda: sys.stdout)
    stderr: IO[str] = field(default_factory=lambda: sys.stderr)
    clock: Clock = field(default_factory=SystemClock)
    spark: SparkSession | None = None

    def output(self, form: Format) -> Output:
        if form is Format.JSON:
            return JsonOutput(self.stdout)
        return TextOutput(self.stdout, self.stderr)


class Command:
    """What every verb begins with."""

    def __init__(self, around: Surroundings, form: Format, project: Path | None) -> None:
        self.around = around
        self.output = around.output(form)
        self.clock = around.clock
        self._project = project

    @property
    def folder(self) -> Path:
        """The project folder that was named, or the nearest one from here upwards."""
        if self._project is not None:
            return found_project(self._project)
        return nearest_project(Path.cwd())

    @contextmanager
    def opened(self, *, leave_no_trace: bool = False) -> Iterator[Headwater]:
        """The project, open; `leave_no_trace` also makes no ledger where there is none."""
        from headwater.api import open as open_project  # noqa: PLC0415  (speed)

        folder = self.folder
        with open_project(
            folder,
            store=_memory_if_unused(folder) if leave_no_trace else None,
            spark=self.around.spark,
            clock=self.clock,
            observer=self.output.step,
            progress=self.output.progress,
        ) as project:
            yield project


def nearest_project(start: Path) -> Path:
    """The first folder from `start` upwards that is a project."""
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    raise ProjectMissing(f"there is no {PROJECT_FILE} in {start} or a folder above it")


def found_project(folder: Path) -> Path:
    if not (folder / PROJECT_FILE).is_file():
        raise ProjectMissing(f"there is no {PROJECT_FILE} in {folder}")
    return folder


def _memory_if_unused(folder: Path) -> str | None:
    """An empty ledger in memory, if the project's own would have to be made to look into it."""
    store = load_config(folder, os.environ, {}).store
    path = store.partition("?")[0].removeprefix("sqlite:///")
    return "sqlite://" if path != store and not Path(path).exists() else None
