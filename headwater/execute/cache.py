"""The folder for what is made once per machine: Delta's jars, a Java launcher, class archives."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path


def cache_folder(env: Mapping[str, str]) -> Path:
    """HEADWATER_CACHE, else `headwater` in the user's cache folder, else a private one."""
    chosen = env.get("HEADWATER_CACHE")
    if chosen:
        return _made(Path(chosen).expanduser().absolute())
    try:
        home = Path(env.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        return _made(home.absolute() / "headwater")
    except (OSError, RuntimeError):
        return _private_folder()


def published(final: Path, fill: Callable[[Path], None]) -> Path:
    """Fill a folder beside `final`, then rename it: the first wins, and nobody sees half."""
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    try:
        fill(scratch)
        scratch.chmod(0o755)
        _renamed(scratch, final)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return final


def _renamed(scratch: Path, final: Path) -> None:
    try:
        scratch.rename(final)
    except OSError:
        if not final.is_dir():
            raise


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(str(folder))
    return folder


def _private_folder() -> Path:
    """Others may write to the folder for temporary files, so a folder there must be ours alone."""
    folder = Path(tempfile.gettempdir()) / f"headwater-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if facts.st_uid == os.getuid() and not facts.st_mode & 0o077 and not folder.is_symlink():
        return folder
    return Path(tempfile.mkdtemp(prefix="headwater-"))
