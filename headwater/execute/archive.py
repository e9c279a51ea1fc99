"""A class-data archive: Spark's and Delta's classes, loaded and linked once per machine.

Made by a process of its own after the first session has ended, and used by every later start. A
start never depends on it: a missing, old or broken archive only means a slower one.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headwater.execute.java import Java

_KEPT = 3
_RETRY_AFTER_SECONDS = 24 * 3600
_LIMIT_SECONDS = 600
_SMALLEST_BYTES = 1_000_000
_IN_BACKGROUND = "--in-background"
_CLASS_PATH_VARIABLES = (
    "SPARK_CONF_DIR",
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "SPARK_DIST_CLASSPATH",
)


@dataclass(frozen=True)
class Archive:
    """Where the archive of one Java with one set of jars lies, whether it exists or not."""

    file: Path
    java: Java

    @property
    def base(self) -> Path | None:
        """The archive it builds upon, where the Java does not ship one."""
        return None if self.java.has_base_archive else self.file.with_suffix(".base.jsa")

    @property
    def failed(self) -> Path:
        return self.file.with_suffix(".failed")

    def options(self) -> list[str]:
        """Java options that use it if it is there, silently."""
        if not self.file.is_file():
            return []
        with suppress(OSError):
            os.utime(self.file)  # what is used is not pruned
        files = [str(file) for file in (self.base, self.file) if file is not None]
        return [
            "-Xshare:auto",
            f"-XX:SharedArchiveFile={os.pathsep.join(files)}",
            "-Xlog:disable",
            "-Xlog:all=error:stderr",
        ]

    def empty_folder(self) -> Path:
        """Stands on the class path for Spark's settings: a missing one there makes Java refuse."""
        folder = self.file.parent / "no-settings"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def making_options(self, scratch: Path) -> list[str]:
        """Java options under which the JVM writes it when it ends."""
        options = [f"-XX:ArchiveClassesAtExit={scratch}", "-Xlog:disable"]
        return [f"-XX:SharedArchiveFile={self.base}", *options] if self.base else options

    def discard(self) -> bool:
        """Remove one that a start failed with; tell whether there was one."""
        existed = self.file.is_file()
        self.file.unlink(missing_ok=True)
        if existed:
            self.failed.touch()
        return existed

    def request(self, env: Mapping[str, str]) -> None:
        """Have it made once this process has ended, unless it is there or may not be."""
        if env.get("HEADWATER_ARCHIVE") == "off" or self.file.is_file():
            return
        if not failed_lately(self.failed, time.time()):
            atexit.register(_spawn, self.file.parent.parent)


def suits(spark: Mapping[str, str], env: Mapping[str, str]) -> bool:
    """Tell whether the class path will be the one an archive is made for."""
    return "spark.driver.extraClassPath" not in spark and not any(
        env.get(name) for name in _CLASS_PATH_VARIABLES
    )


def locate(cache: Path, java: Java, launcher: Path, jars: Iterable[Path]) -> Archive:
    """The archive for this Java and these very files; other files mean another archive."""
    digest = hashlib.sha256(f"{java.home}|{java.text}|{launcher}".encode())
    for jar in sorted(jars):
        facts = jar.stat()
        digest.update(f"|{jar}|{facts.st_size}|{facts.st_mtime_ns}".encode())
    return Archive(cache / "archives" / f"{digest.hexdigest()[:16]}.jsa", java)


def failed_lately(mark: Path, now: float) -> bool:
    """Tell whether making it failed so recently that trying again would only cost."""
    try:
        return now - mark.stat().st_mtime < _RETRY_AFTER_SECONDS
    except OSError:
        return False


def _spawn(cache: Path) -> None:
    """Start the maker on its own: the command that asked for it does not wait."""
    command = [sys.executable, "-m", "headwater.execute.archive", _IN_BACKGROUND]
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603  (ourselves)
            command,
            env={**os.environ, "HEADWATER_CACHE": str(cache)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )


# --- making -------------------------------------------------------------------------------------


def make(archive: Archive) -> bool:
    """Make the archive if nobody else has or does; tell whether it is there now."""
    archive.file.parent.mkdir(parents=True, exist_ok=True)
    with archive.file.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        if archive.file.is_file():
            return True
        try:
            _make(archive)
        except Exception:
            archive.failed.touch()
            raise
        archive.failed.unlink(missing_ok=True)
        _prune(archive.file.parent)
        return True


def _make(archive: Archive) -> None:
    from headwater.execute import training  # noqa: PLC0415  (imports Spark)

    with tempfile.TemporaryDirectory(prefix=".making-", dir=archive.file.parent) as folder:
        scratch = Path(folder) / "archive.jsa"
        if archive.base is not None and not archive.base.is_file():
            _make_base(archive.java, archive.base, Path(folder) / "base.jsa")
        training.train(Path(folder), archive.making_options(scratch), _LIMIT_SECONDS)
        if scratch.stat().st_size < _SMALLEST_BYTES:
            raise OSError(f"{scratch} is too small to be an archive")
        _publish(scratch, archive.file)


def _make_base(java: Java, final: Path, scratch: Path) -> None:
    command = [str(java.home / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={scratch}"]
    subprocess.run(  # noqa: S603  (the Java that was found)
        command, capture_output=True, timeout=_LIMIT_SECONDS, check=True
    )
    _publish(scratch, final)


def _publish(scratch: Path, final: Path) -> None:
    """Durable before it is visible, or a power cut might leave a file with holes."""
    with scratch.open("rb") as written:
        os.fsync(written.fileno())
    scratch.replace(final)


def _prune(folder: Path) -> None:
    """Archives are large, and an upgrade leaves the old one behind."""
    found = [file for file in folder.glob("*.jsa") if not file.name.endswith(".base.jsa")]
    for old in sorted(found, key=lambda file: file.stat().st_mtime)[:-_KEPT]:
        for file in folder.glob(f"{old.stem}.*"):
            file.unlink(missing_ok=True)


def main() -> int:
    """`python -m headwater.execute.archive`: fetch Delta's jars and make the archive, if needed."""
    from headwater.execute.session import local_archive  # noqa: PLC0415  (imports Spark)

    os.environ["HEADWATER_ARCHIVE"] = "off"  # the session below must not ask for one more maker
    if _IN_BACKGROUND in sys.argv:
        os.nice(10)
    archive = local_archive(print)
    if archive is not None and not archive.file.is_file():
        print("preparing Spark's class archive (once per machine)")
        make(archive)
    return 0


if __name__ == "__main__":
    sys.exit(main())
