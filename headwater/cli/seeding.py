"""The example project that `init` makes: its files, and its tables filled without Spark."""

from __future__ import annotations

import csv
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from headwater.config import PROJECT_FILE
from headwater.vocabulary.errors import ProjectExists

TABLES = {
    "customers": {"customer_id": "int64", "name": "utf8", "country": "utf8"},
    "orders": {
        "order_id": "int64",
        "customer_id": "int64",
        "ordered_on": "date32",
        "status": "utf8",
        "amount": "decimal",
    },
}
_FEED = {"delta.enableChangeDataFeed": "true"}
_SEEDS = "seeds"
_TEMPLATE = ".template"  # of files that would count as code of our own otherwise
_IGNORED = ".headwater/\nwarehouse/\ndata/\n"


def make_project(folder: Path) -> list[str]:
    """Write the files and tables; the names of what was written. Overwrites nothing."""
    template = files("headwater.cli") / "template"
    texts = {".gitignore": _IGNORED, **_texts(template)}
    places = [*texts, *(f"data/{table}" for table in TABLES)]
    _refuse_overwriting(folder, places)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for table in TABLES:
        fill(folder / "data" / table, table, template / _SEEDS / f"{table}.csv")
    return places


def fill(path: Path, table: str, seed: Traversable) -> None:
    """A Delta table with a change feed from a file of text, each column cast to its type."""
    from arro3.core import Array, DataType, Table  # noqa: PLC0415  (speed)
    from deltalake import write_deltalake  # noqa: PLC0415

    types = {
        "int64": DataType.int64(),
        "utf8": DataType.utf8(),
        "date32": DataType.date32(),
        "decimal": DataType.decimal128(12, 2),
    }
    rows = list(csv.DictReader(seed.read_text("utf-8").splitlines()))
    columns: dict[str, Any] = {
        name: Array([row[name] for row in rows], DataType.utf8()).cast(types[type_])
        for name, type_ in TABLES[table].items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_deltalake(str(path), Table.from_pydict(columns), configuration=_FEED)


def _refuse_overwriting(folder: Path, places: list[str]) -> None:
    if folder.exists() and not folder.is_dir():
        raise ProjectExists(f"{folder} is a file")
    taken = [place for place in (PROJECT_FILE, *places) if (folder / place).exists()]
    if taken:
        raise ProjectExists(f"{folder} has a {taken[0]} already; nothing was written")


def _texts(template: Traversable, below: str = "") -> dict[str, str]:
    """Every file of the template by its path, without the seeds."""
    found: dict[str, str] = {}
    for entry in sorted(template.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name not in {_SEEDS, "__pycache__"}:
            found |= _texts(entry, f"{below}{entry.name}/")
        elif entry.is_file():
            name = entry.name.removesuffix(_TEMPLATE)
            found[f"{below}{name}"] = entry.read_text("utf-8")
    return found
