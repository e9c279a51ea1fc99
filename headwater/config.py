"""A project's settings in one frozen value: headwater.toml < HEADWATER_* variables < flags."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from headwater.vocabulary.errors import ConfigInvalid
from headwater.vocabulary.settings import ControlSettings, RunnerSettings

PROJECT_FILE = "headwater.toml"
_PREFIX = "HEADWATER_"
_OTHER_VARIABLES = frozenset(
    {"HEADWATER_ARCHIVE", "HEADWATER_CACHE", "HEADWATER_DEBUG", "HEADWATER_JIT"}
)
_TEST_PREFIX = "HEADWATER_TEST_"
_SQLITE = "sqlite:///"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_FILE_SCHEME = re.compile(r"(?i)file:(//[^/]*)?(?=/)")
_CONTROL, _RUNNER = ControlSettings(), RunnerSettings()


@dataclass(frozen=True)
class Config:
    """What a project runs with; paths are absolute or carry a scheme."""

    folder: Path
    store: str = field(repr=False)  # may hold a password
    warehouse: str
    spark: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), hash=False, repr=False
    )
    refresh_parallel: int = 4
    claim_limit_seconds: float = 30.0
    heartbeat_seconds: float = 5.0
    ledger_timeout_seconds: float = 5.0
    max_window_minutes: float = 30.0
    max_window_rows: int = 10_000_000
    max_window_bytes: int = 4_294_967_296
    regret: float = 0.1
    history_keep_days: int = 7
    history_keep_rows: int = 1_000_000
    control: ControlSettings = _CONTROL
    runner: RunnerSettings = _RUNNER

    def located(self, path: str) -> str:
        """Where a path written in the project's files lies."""
        return _located(self.folder, path)

    def view_path(self, view: str) -> str:
        """Where a new view's table is put."""
        return f"{self.warehouse.rstrip('/')}/{view}"

    def is_local(self, path: str) -> bool:
        """Tell whether plain file calls reach a path."""
        return _SCHEME.match(path) is None or _FILE_SCHEME.match(path) is not None


@dataclass(frozen=True)
class _Setting:
    """One setting: its key in the file, its field in Config, its type and its least value.

    A field of a group is written `group.field`, like its key.
    """

    key: str
    field: str
    kind: type
    least: float | None = None

    @property
    def variable(self) -> str:
        return _PREFIX + self.key.replace(".", "_").upper()


_GROUPS: Mapping[str, type] = {"control": ControlSettings, "runner": RunnerSettings}
_TYPES = {"str": str, "int": int, "float": float}


def _group(name: str, group: type) -> tuple[_Setting, ...]:
    """The settings of a group, read off its fields."""
    return tuple(
        _Setting(
            f"{name}.{each.name}",
            f"{name}.{each.name}",
            _TYPES[str(each.type)],
            each.metadata.get("least"),
        )
        for each in fields(group)
    )


_SETTINGS = (
    _Setting("store", "store", str),
    _Setting("warehouse", "warehouse", str),
    _Setting("refresh.parallel", "refresh_parallel", int, 1),
    _Setting("refresh.claim_limit_seconds", "claim_limit_seconds", float, 1),
    _Setting("refresh.heartbeat_seconds", "heartbeat_seconds", float, 0.05),
    _Setting("refresh.ledger_timeout_seconds", "ledger_timeout_seconds", float, 0.1),
    _Setting("refresh.max_window_minutes", "max_window_minutes", float, 1),
    _Setting("refresh.max_window_rows", "max_window_rows", int, 1),
    _Setting("refresh.max_window_bytes", "max_window_bytes", int, 1),
    _Setting("refresh.regret", "regret", float, 0),
    _Setting("history.keep_days", "history_keep_days", int, 0),
    _Setting("history.keep_rows", "history_keep_rows", int, 0),
    *(setting for name, group in _GROUPS.items() for setting in _group(name, group)),
)
_BY_KEY = {setting.key: setting for setting in _SETTINGS}
_BY_FIELD = {setting.field: setting for setting in _SETTINGS}
_BY_VARIABLE = {setting.variable: setting for setting in _SETTINGS}
_SPARK_MASTER = "HEADWATER_SPARK_MASTER"


def load_config(
    project: Path | None, env: Mapping[str, str], flags: Mapping[str, object]
) -> Config:
    """Read the project's file, the environment and the flags; the later one wins."""
    chosen = project if project is not None else Path.cwd()
    folder = Path(os.path.abspath(chosen))  # noqa: PTH100  (a symbolic link may move on)
    values: dict[str, Any] = {}
    spark: dict[str, str] = {}
    file = folder / PROJECT_FILE
    for part, where in (
        (_read(file), str(file)),
        (_from_environment(env), "environment"),
        (flags, "flags"),
    ):
        for key, value in _flat(part):
            if key.startswith("spark."):
                spark[key] = _spark_text(key, value, where)
            else:
                setting = _known(key, where)
                values[setting.field] = _checked(setting, value, where)
    return _assembled(folder, values, spark)


def _assembled(folder: Path, values: dict[str, Any], spark: dict[str, str]) -> Config:
    store = values.pop("store", f"{_SQLITE}{folder}/.headwater/ledger.db")
    warehouse = values.pop("warehouse", "warehouse")
    groups = {name: group(**_taken(values, name)) for name, group in _GROUPS.items()}
    config = Config(
        folder=folder,
        store=_located_store(folder, store),
        warehouse=_located(folder, warehouse),
        spark=MappingProxyType(spark),
        **groups,
        **values,
    )
    _refuse_contradictions(config)
    return config


def _taken(values: dict[str, Any], name: str) -> dict[str, Any]:
    """The values of one group, by field; they are gone from the rest."""
    own = [key for key in values if key.startswith(f"{name}.")]
    return {key.partition(".")[2]: values.pop(key) for key in own}


def _refuse_contradictions(config: Config) -> None:
    if config.heartbeat_seconds >= config.claim_limit_seconds:
        raise ConfigInvalid(
            f"refresh.heartbeat_seconds ({config.heartbeat_seconds:g}) must be below "
            f"refresh.claim_limit_seconds ({config.claim_limit_seconds:g})",
            hint="a claim would expire between two heartbeats",
        )
    control = config.control
    for often, limit in (("renew", "lease"), ("report", "silent")):
        if getattr(control, f"{often}_seconds") >= getattr(control, f"{limit}_seconds"):
            raise ConfigInvalid(
                f"control.{often}_seconds must be below control.{limit}_seconds",
                hint="whoever keeps to it would be taken for dead",
            )


# --- reading ------------------------------------------------------------------------------------


def _read(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as opened:
            return tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"not valid TOML: {error}", where=str(file)) from error
    except OSError as error:
        raise ConfigInvalid(f"cannot be read: {error.strerror}", where=str(file)) from error


def _from_environment(env: Mapping[str, str]) -> Mapping[str, str]:
    found = {}
    for name in sorted(env):
        if not name.startswith(_PREFIX) or name in _OTHER_VARIABLES:
            continue
        if name.startswith(_TEST_PREFIX):
            continue
        if name == _SPARK_MASTER:
            found["spark.master"] = env[name]
        elif name in _BY_VARIABLE:
            found[_BY_VARIABLE[name].key] = env[name]
        else:
            known = (*_BY_VARIABLE, _SPARK_MASTER, *_OTHER_VARIABLES)
            raise _unknown(name, known, "environment")
    return found


def _flat(part: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Tables become dotted keys; a key of the table `spark` always begins with `spark.`."""
    for name, value in part.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{key}.")
        else:
            yield _canonical(key), value


def _canonical(key: str) -> str:
    if key.startswith("spark.spark."):
        return key.removeprefix("spark.")
    return _BY_FIELD[key].key if key in _BY_FIELD else key


# --- checking -----------------------------------------------------------------------------------


def _known(key: str, where: str) -> _Setting:
    if key not in _BY_KEY:
        raise _unknown(key, _BY_KEY, where)
    return _BY_KEY[key]


def _unknown(key: str, known: Any, where: str) -> ConfigInvalid:
    near = get_close_matches(key, list(known), n=1, cutoff=0.6)
    hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
    return ConfigInvalid(f"no setting is called `{key}`", where=where, hint=hint)


def _checked(setting: _Setting, value: object, where: str) -> object:
    converted = _converted(setting.kind, value)
    if converted is None:
        raise ConfigInvalid(
            f"`{setting.key}` must be {_KINDS[setting.kind]}, not {type(value).__name__}"
            if not isinstance(value, str)
            else f"`{setting.key}` must be {_KINDS[setting.kind]}",
            where=where,
        )
    if setting.least is not None and not converted >= setting.least:
        raise ConfigInvalid(f"`{setting.key}` must be at least {setting.least:g}", where=where)
    return converted


_KINDS = {str: "a text that is not empty", int: "a whole number", float: "a number"}


def _converted(kind: type, value: object) -> Any:
    """The value as `kind`, or None; only the environment and flags may write numbers as text."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if kind is str:
        return value if isinstance(value, str) and value.strip() else None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if kind is int and isinstance(value, float):
        return None
    try:
        return kind(value)
    except ValueError:
        return None


def _spark_text(key: str, value: object, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise ConfigInvalid(f"`{key}` must be a text, a number or true/false", where=where)


# --- places -------------------------------------------------------------------------------------


def _located(folder: Path, path: str) -> str:
    if _FILE_SCHEME.match(path):
        return _FILE_SCHEME.sub("", path)
    if _SCHEME.match(path):
        return path
    return os.path.normpath(folder / Path(path).expanduser())


def _located_store(folder: Path, store: str) -> str:
    """A SQLite file's path is relative to the project; other URLs stay as they are."""
    if "://" not in store:
        raise ConfigInvalid(
            "`store` must be a URL",
            hint="for example sqlite:///ledger.db or postgresql://user@host/database",
        )
    if not store.startswith(_SQLITE) or store == _SQLITE or store.startswith(f"{_SQLITE}:memory:"):
        return store
    path, mark, options = store.removeprefix(_SQLITE).partition("?")
    return f"{_SQLITE}{_located(folder, path)}{mark}{options}"
