"""`headwater version`"""

from __future__ import annotations

import platform
from argparse import ArgumentParser

import headwater
from headwater.cli.command import Command
from headwater.cli.options import add_output

_PARTS = ("pyspark", "delta-spark", "deltalake", "sqlglot")


def options(parser: ArgumentParser) -> None:
    add_output(parser)


def version(command: Command) -> None:
    """Print the versions of Headwater and of what it stands on."""
    found = {"headwater": headwater.__version__, "python": platform.python_version()}
    found |= {part: _installed(part) for part in _PARTS}
    command.output.show(
        found, lambda: ["\n".join(f"{name} {number}" for name, number in found.items())]
    )


def _installed(package: str) -> str:
    from importlib import metadata  # noqa: PLC0415  (speed)

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
