"""What was measured, kept line by line, so that a run goes on where the last one stopped."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_CODE = ("headwater", "benchmarks")
_SHOWING = {
    "command.py",
    "machine.py",
    "page.py",
    "plot.py",
    "results.py",
    "targets.py",
    "terminal.py",
}
"""Of the matrix, what has no part in measuring."""


@dataclass(frozen=True)
class Timing:
    """One contender on one row; an error where it failed."""

    seconds: tuple[float, ...] = ()
    technique: str = ""
    forecast: Mapping[str, float] = field(default_factory=dict)
    error: str = ""

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


@dataclass(frozen=True)
class Row:
    """One shape under one change at one size."""

    rows: int
    shape: str
    change: str
    changed: int  # rows of the sources, in each round
    contenders: Mapping[str, Timing]

    @property
    def key(self) -> tuple[int, str, str]:
        return self.rows, self.shape, self.change

    def seconds(self, contender: str) -> float | None:
        found = self.contenders.get(contender)
        return found.median if found else None

    def to_json(self) -> dict[str, Any]:
        return {"kind": "row", **asdict(self)}


def row_of(value: Mapping[str, Any]) -> Row:
    timings = {
        name: Timing(tuple(t["seconds"]), t["technique"], t["forecast"], t["error"])
        for name, t in value["contenders"].items()
    }
    return Row(value["rows"], value["shape"], value["change"], value["changed"], timings)


def revision() -> str:
    """A digest of the code that is measured, whether committed or not."""
    sha = hashlib.sha256()
    for folder in _CODE:
        for path in sorted((_ROOT / folder).rglob("*")):
            showing = folder != "headwater" and path.name in _SHOWING
            if path.suffix in {".py", ".sql"} and not showing and "results" not in path.parts:
                sha.update(str(path.relative_to(_ROOT)).encode() + path.read_bytes())
    return sha.hexdigest()[:12]


class Store:
    """A file of JSON lines; those of other code are left alone and not read."""

    def __init__(self, path: Path, code: str) -> None:
        self._path = path
        self._code = code

    def add(self, value: Mapping[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps({"code": self._code, **value}) + "\n")

    def values(self, kind: str) -> Iterator[dict[str, Any]]:
        if self._path.exists():
            for line in self._path.read_text().splitlines():
                value = json.loads(line)
                if value["code"] == self._code and value["kind"] == kind:
                    yield value

    def rows(self) -> dict[tuple[int, str, str], Row]:
        """The newest of each row."""
        return {row.key: row for row in map(row_of, self.values("row"))}

    def clear(self) -> None:
        """Forget what this code has measured."""
        if self._path.exists():
            lines = self._path.read_text().splitlines(keepends=True)
            kept = [line for line in lines if json.loads(line)["code"] != self._code]
            self._path.write_text("".join(kept))
