"""The demo's project folder: the files a user would have written."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from headwater.vocabulary.errors import ProjectExists

FOLDER = "headwater-demo"


def free_folder(parent: Path) -> Path:
    """A folder of our own: `headwater-demo`, or the first with a number that is not there yet."""
    number = 1
    while True:
        folder = parent / (FOLDER if number == 1 else f"{FOLDER}-{number}")
        if not folder.exists():
            return folder
        number += 1


def make_folder(folder: Path) -> None:
    """Write settings, definitions and a program that sells into a folder that is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectExists(f"{folder} is not empty; the demo wants a folder of its own")
    template = files("headwater.demo") / "template"
    (folder / "views").mkdir(parents=True)
    for place in (template, template / "views"):
        below = folder if place == template else folder / "views"
        for entry in place.iterdir():
            if entry.is_file():
                name = entry.name.removesuffix(".template")
                (below / name).write_text(entry.read_text("utf-8"), "utf-8")
