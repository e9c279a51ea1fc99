"""The views of a folder, one file each."""

from __future__ import annotations

from pathlib import Path

from headwater.define.parse import parse
from headwater.define.statements import CreateView

HERE = Path(__file__).parent


def queries(folder: Path) -> dict[str, str]:
    """View -> its query, as the file has it."""
    found = {}
    for file in sorted(folder.glob("*.sql")):
        (statement,) = parse(file.read_text("utf-8")).statements
        assert isinstance(statement, CreateView)
        found[file.stem] = statement.definition.query
    return found


TPCH = queries(HERE / "views")
CHANNELS = queries(HERE / "channels")
