"""`headwater migrate`"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project
from headwater.config import load_config


def options(parser: ArgumentParser) -> None:
    add_output(parser)
    add_project(parser)


def migrate(command: Command) -> None:
    """Bring the ledger's schema up to date.

    Opening a project does that too.
    """
    from headwater.store.revisions import HEAD  # noqa: PLC0415
    from headwater.workspace.opening import open_workspace  # noqa: PLC0415  (speed)

    config = load_config(command.folder, os.environ, {})
    before = ledger_revision(config.store, config.ledger_timeout_seconds)
    open_workspace(config, command.clock).close()
    did = "was up to date" if before == HEAD else f"was at {before or 'nothing'}"
    command.output.show(
        {"before": before, "revision": HEAD}, lambda: [f"the ledger is at {HEAD} ({did})"]
    )


def ledger_revision(url: str, timeout_seconds: float) -> str | None:
    """The revision that a ledger has before anything is done to it."""
    from headwater.store.dialects import open_database  # noqa: PLC0415  (speed)

    path = url.partition("?")[0].removeprefix("sqlite:///")
    if path != url and not Path(path).exists():
        return None
    database = open_database(url, timeout_seconds)
    try:
        return database.revision()
    finally:
        database.close()
