"""Settings: where they come from, which wins, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from headwater.config import Config, load_config
from headwater.vocabulary.errors import ConfigInvalid

Load = Callable[..., Config]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a project whose file has the given text."""

    def load(
        text: str = "",
        env: Mapping[str, str] | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> Config:
        (tmp_path / "headwater.toml").write_text(text, "utf-8")
        return load_config(tmp_path, env or {}, flags or {})

    return load


def test_defaults_lie_in_the_project_folder(load: Load, tmp_path: Path) -> None:
    """An empty file gives a ledger and a warehouse inside the project, and the stated numbers."""
    config = load()
    assert config.store == f"sqlite:///{tmp_path}/.headwater/ledger.db"
    assert config.warehouse == f"{tmp_path}/warehouse"
    assert config.spark == {}
    assert config.refresh_parallel == 4
    assert (config.claim_limit_seconds, config.heartbeat_seconds) == (30, 5)
    assert (config.ledger_timeout_seconds, config.max_window_minutes) == (5, 30)
    assert (config.history_keep_days, config.history_keep_rows) == (7, 1_000_000)


def test_no_file_is_as_an_empty_one(tmp_path: Path) -> None:
    """A folder without headwater.toml has the defaults."""
    assert load_config(tmp_path, {}, {}).refresh_parallel == 4


def test_file_then_environment_then_flags(load: Load) -> None:
    """A flag beats a variable, which beats the file; what is not given stays."""
    text = "[refresh]\nparallel = 2\nmax_window_minutes = 7\n"
    env = {"HEADWATER_REFRESH_PARALLEL": "3", "HEADWATER_HISTORY_KEEP_DAYS": "1"}
    assert load(text).refresh_parallel == 2
    assert load(text, env).refresh_parallel == 3
    config = load(text, env, {"refresh": {"parallel": 5}})
    assert (config.refresh_parallel, config.max_window_minutes) == (5, 7)
    assert config.history_keep_days == 1


@pytest.mark.parametrize(
    "flags", [{"refresh_parallel": 9}, {"refresh.parallel": 9}, {"refresh": {"parallel": 9}}]
)
def test_flags_may_name_a_setting_three_ways(load: Load, flags: Mapping[str, object]) -> None:
    """A flag is known by its field, its dotted key or its table."""
    assert load(flags=flags).refresh_parallel == 9


@pytest.mark.parametrize(
    "text",
    [
        '[spark]\nmaster = "local[3]"\n"spark.sql.ansi.enabled" = false\n"spark.task.cpus" = 1\n',
        '[spark]\nmaster = "local[3]"\nsql.ansi.enabled = false\ntask.cpus = 1\n',
        '"spark.master" = "local[3]"\nspark.sql.ansi.enabled = "false"\nspark.task.cpus = "1"\n',
    ],
)
def test_spark_settings_get_their_full_name(load: Load, text: str) -> None:
    """However it is spelled, a Spark setting arrives as `spark.*` and as text."""
    assert load(text).spark == {
        "spark.master": "local[3]",
        "spark.sql.ansi.enabled": "false",
        "spark.task.cpus": "1",
    }


def test_spark_master_from_the_environment(load: Load) -> None:
    """HEADWATER_SPARK_MASTER replaces the file's master and keeps its other settings."""
    text = '[spark]\nmaster = "local[1]"\n"spark.x" = "y"\n'
    found = load(text, {"HEADWATER_SPARK_MASTER": "spark://host:7077"}).spark
    assert found == {"spark.master": "spark://host:7077", "spark.x": "y"}


@pytest.mark.parametrize(
    ("text", "env", "flags", "named", "near"),
    [
        ('stroe = "x"', {}, {}, "stroe", "store"),
        ("[refresh]\nparalel = 1", {}, {}, "refresh.paralel", "refresh.parallel"),
        ("[hystory]\nkeep_days = 1", {}, {}, "hystory.keep_days", "history.keep_days"),
        ("", {"HEADWATER_STROE": "x"}, {}, "HEADWATER_STROE", "HEADWATER_STORE"),
        ("", {}, {"warehose": "x"}, "warehose", "warehouse"),
    ],
)
def test_unknown_settings_are_refused(
    load: Load,
    text: str,
    env: Mapping[str, str],
    flags: Mapping[str, object],
    named: str,
    near: str,
) -> None:
    """A misspelled setting is named with the one that was probably meant."""
    with pytest.raises(ConfigInvalid) as caught:
        load(text, env, flags)
    assert f"`{named}`" in caught.value.what
    assert near in caught.value.hint


def test_the_message_names_the_file(load: Load, tmp_path: Path) -> None:
    """The file with the unknown key is told by its path."""
    with pytest.raises(ConfigInvalid) as caught:
        load("colour = 1")
    assert caught.value.where == str(tmp_path / "headwater.toml")


def test_variables_that_are_no_settings_pass(load: Load) -> None:
    """Variables of the cache, of debugging and of tests, and other programs' own, are let be."""
    env = {"HEADWATER_CACHE": "x", "HEADWATER_DEBUG": "1", "HEADWATER_TEST_PG": "x", "HOME": "x"}
    assert load("", env).refresh_parallel == 4


@pytest.mark.parametrize(
    "text",
    [
        "store = 1",
        'store = ""',
        'store = "ledger.db"',
        '[refresh]\nparallel = "many"',
        "[refresh]\nparallel = true",
        "[refresh]\nparallel = 1.5",
        "[refresh]\nparallel = 0",
        "[refresh]\nclaim_limit_seconds = nan",
        "[refresh]\nheartbeat_seconds = 30",
        "[history]\nkeep_rows = -1",
        "refresh = 3",
        "[spark]\nx = [1]",
        "not toml",
    ],
)
def test_wrong_values_are_refused(load: Load, text: str) -> None:
    """A value of the wrong type or out of its range is an error, not a surprise later."""
    with pytest.raises(ConfigInvalid):
        load(text)


def test_relative_places_belong_to_the_project(load: Load, tmp_path: Path) -> None:
    """Relative paths are taken from the project folder, wherever the command was started."""
    config = load('store = "sqlite:///state/ledger.db"\nwarehouse = "../lake"\n')
    assert config.store == f"sqlite:///{tmp_path}/state/ledger.db"
    assert config.warehouse == f"{tmp_path.parent}/lake"
    assert config.located("data/orders") == f"{tmp_path}/data/orders"
    assert config.view_path("v") == f"{tmp_path.parent}/lake/v"


def test_absolute_places_stay(load: Load) -> None:
    """Absolute paths, other databases and other stores are left as they are."""
    config = load('store = "postgresql://u@h/d"\nwarehouse = "s3a://bucket/lake/"\n')
    assert config.store == "postgresql://u@h/d"
    assert config.view_path("v") == "s3a://bucket/lake/v"
    assert config.located("s3a://b/t") == "s3a://b/t"
    assert config.located("file:/data/t") == config.located("file:///data/t") == "/data/t"
    assert config.is_local("/data/t")
    assert not config.is_local("s3a://b/t")


def test_passwords_are_not_shown(load: Load) -> None:
    """A configuration that lands in a log does not carry the ledger's password there."""
    assert "secret" not in repr(load('store = "postgresql://u:secret@h/d"'))


def test_loading_is_light() -> None:
    """Reading the settings loads nothing heavy, because every command does it."""
    program = (
        "import sys, headwater.config; "
        "print({'pyspark', 'sqlalchemy', 'sqlglot', 'deltalake', 'rich'} & set(sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "set()"
