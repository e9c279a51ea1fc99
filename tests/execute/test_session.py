"""The session: what it is set to, what it leaves alone, how it starts."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from headwater.config import load_config
from headwater.execute import archive
from headwater.execute.java import Java
from headwater.execute.machine import cores, heap_megabytes, memory_bytes
from headwater.execute.session import (
    CATALOG,
    EXTENSION,
    Launch,
    adopt_session,
    build_session,
    session_settings,
    stop_session,
)
from headwater.execute.settings import (
    RESULT_SETTINGS,
    configured_fingerprint,
    session_fingerprint,
)
from headwater.vocabulary.errors import DownloadFailed, SessionUnsuited

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
JAR = Path("/cache/delta-spark.jar")


def settings_of(folder: Path, **spark: str) -> dict[str, str]:
    """The settings of a session with these of the user's, `__` standing for a dot."""
    given = {name.replace("__", "."): value for name, value in spark.items()}
    launch = Launch(Java(Path("/java"), 17, "17"), Path("/launcher"), (JAR,), None)
    return session_settings(load_config(folder, {}, {"spark": given}), launch)


def run(program: str, folder: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which then has a Spark of its own."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


# --- settings -----------------------------------------------------------------------------------


def test_a_small_machine_is_the_default(tmp_path: Path) -> None:
    """Without a master Spark runs here, on few partitions, reachable from here only."""
    found = settings_of(tmp_path)
    assert found["spark.master"] == "local[*]"
    assert found["spark.sql.shuffle.partitions"] == str(2 * cores())
    assert found["spark.driver.bindAddress"] == "127.0.0.1"
    assert found["spark.scheduler.mode"] == "FAIR"
    assert found["spark.driver.extraClassPath"] == str(JAR)
    assert "spark.jars" not in found


def test_a_cluster_gets_the_jars_and_keeps_its_own_sizes(tmp_path: Path) -> None:
    """With a master of the user's the jars are shipped, and nothing local is imposed."""
    found = settings_of(tmp_path, spark__master="spark://h:7077", spark__jars="/my.jar")
    assert found["spark.jars"] == f"/my.jar,{JAR}"
    local = {"spark.driver.extraClassPath", "spark.driver.host", "spark.sql.shuffle.partitions"}
    assert not local & set(found)


def test_the_users_settings_win(tmp_path: Path) -> None:
    """Any `spark.*` of the user's replaces ours; lists and options are joined, theirs last."""
    found = settings_of(
        tmp_path,
        spark__sql__session__timeZone="Europe/Berlin",
        spark__ui__enabled="true",
        spark__driver__extraJavaOptions="-Dx=y",
        spark__driver__extraClassPath="/mine.jar",
        spark__sql__extensions="my.Extension",
    )
    assert found["spark.sql.session.timeZone"] == "Europe/Berlin"
    assert found["spark.ui.enabled"] == "true"
    assert found["spark.driver.extraJavaOptions"].endswith(" -Dx=y")
    assert found["spark.driver.extraClassPath"] == f"{JAR}{os.pathsep}/mine.jar"
    assert found["spark.sql.extensions"] == f"my.Extension,{EXTENSION}"


def test_the_heap_leaves_room() -> None:
    """The heap is between 1 and 4 GiB, and never more than the machine has where it has more."""
    assert 1024 <= heap_megabytes() <= 4096
    assert heap_megabytes() * 2**20 <= max(memory_bytes(), 2**30)


# --- a running session --------------------------------------------------------------------------


def test_delta_tables_work(spark: SparkSession, tmp_path: Path) -> None:
    """The session writes, merges and reads Delta tables, with a Python worker of this Python."""
    table = f"delta.`{tmp_path / 't'}`"
    spark.sql(f"CREATE TABLE {table} (k INT, v STRING) USING DELTA")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT 2 AS k, 'c' AS v) s ON t.k = s.k "
        "WHEN MATCHED THEN UPDATE SET *"
    )
    rows = spark.sql(f"SELECT k, v FROM {table} ORDER BY k").collect()
    assert [tuple(row) for row in rows] == [(1, "a"), (2, "c")]
    versions = (
        spark.sparkContext.parallelize([0], 1).map(lambda _: tuple(sys.version_info)).collect()
    )
    assert versions == [tuple(sys.version_info)]


def test_results_do_not_depend_on_the_machine(spark: SparkSession) -> None:
    """What a result depends on is set as documented, so the fingerprint needs no session."""
    conf = spark.conf
    assert {name: conf.get(name) for name in RESULT_SETTINGS} == dict(RESULT_SETTINGS)
    assert session_fingerprint(spark) == configured_fingerprint({})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("spark.sql.ansi.enabled", "false"),
        ("spark.sql.session.timeZone", "Asia/Tokyo"),
        ("spark.sql.legacy.setopsPrecedence.enabled", "true"),
        ("spark.sql.legacy.sizeOfNull", "true"),
        ("spark.sql.parser.escapedStringLiterals", "true"),
        ("spark.sql.readSideCharPadding", "false"),
        ("spark.sql.parquet.int96RebaseModeInRead", "LEGACY"),
    ],
)
def test_a_setting_that_changes_results_changes_the_fingerprint(
    spark: SparkSession, setting: str, value: str
) -> None:
    """S26: in a session and in a configuration alike; others leave it as it is."""
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "17")
    assert session_fingerprint(session) == session_fingerprint(spark)
    session.conf.set(setting, value)
    assert session_fingerprint(session) == configured_fingerprint({setting: value})
    assert session_fingerprint(session) != session_fingerprint(spark)


def test_a_second_session_shares_the_spark_and_nothing_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Two projects in one process have one Spark, and neither sees the other's settings."""
    own = {"spark.sql.shuffle.partitions": "7"}
    second = build_session(load_config(tmp_path, {}, {"spark": own}))
    assert second.sparkContext is spark.sparkContext
    assert second.conf.get("spark.sql.shuffle.partitions") == "7"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    second.sql("SELECT 1 AS a").createOrReplaceTempView("of_the_second")
    assert not spark.catalog.tableExists("of_the_second")
    stop_session(second)
    assert spark.sql("SELECT 1").collect()[0][0] == 1


def test_adopting_alters_nothing(spark: SparkSession) -> None:
    """A session that is handed in comes back as it was."""
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "3")
    before = {row.key: row.value for row in own.sql("SET").collect()}
    assert adopt_session(own) is own
    assert {row.key: row.value for row in own.sql("SET").collect()} == before


class Plain:
    """A session without Delta, as far as its settings tell."""

    class conf:  # noqa: N801
        """Only what is asked."""

        @staticmethod
        def get(name: str, default: str) -> str:
            return {"spark.sql.extensions": "my.Extension"}.get(name, default)


def test_a_session_without_delta_is_refused() -> None:
    """The error has the exact settings that are missing."""
    with pytest.raises(SessionUnsuited) as caught:
        adopt_session(Plain())  # type: ignore[arg-type]
    assert f"spark.sql.extensions={EXTENSION}" in caught.value.hint
    assert f"spark.sql.catalog.spark_catalog={CATALOG}" in caught.value.hint


# --- a start ------------------------------------------------------------------------------------

START = """
import json, os
from pathlib import Path
from headwater.config import load_config
from headwater.execute.session import build_session, stop_session
env = dict(os.environ)
settings = {"spark.master": "local[1]", "spark.driver.memory": "1g"}
spark = build_session(load_config(Path.cwd(), {}, {"spark": settings}))
runtime = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
print(json.dumps({
    "altered": sorted(k for k in {*env, *os.environ} if env.get(k) != os.environ.get(k)),
    "arguments": list(runtime.getInputArguments()),
    "one": spark.sql("SELECT 1").collect()[0][0],
}))
stop_session(spark)
"""

LOCATE = """
from headwater.execute.session import local_archive
print(local_archive(lambda line: None).file)
"""


def test_a_start_is_silent_and_leaves_the_environment(tmp_path: Path) -> None:
    """Starting and stopping prints nothing, alters no variable and leaves no file behind."""
    ended = run(START, tmp_path)
    assert ended.stderr == ""
    pyspark_sets = {"SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE"}
    assert set(json.loads(ended.stdout)["altered"]) <= pyspark_sets
    assert not list(tmp_path.iterdir())


def test_a_broken_archive_does_not_break_a_start(tmp_path: Path) -> None:
    """With rubbish in the archive's place Spark starts all the same, silently."""
    known = Path(run(LOCATE).stdout.strip())
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "jars").symlink_to(known.parent.parent / "jars")
    env = {"HEADWATER_CACHE": str(cache)}
    file = Path(run(LOCATE, **env).stdout.strip())
    file.parent.mkdir()
    file.write_bytes(b"rubbish" * 1000)
    ended = run(START, **env)
    assert ended.stderr == ""
    said: dict[str, Any] = json.loads(ended.stdout)
    assert said["one"] == 1
    assert any(str(file) in word for word in said["arguments"])


def test_jars_that_cannot_be_fetched(tmp_path: Path) -> None:
    """Without a network the first start ends with a coded error, and leaves no half cache."""
    settings = tmp_path / "ivy.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="none"/><resolvers>'
        f'<filesystem name="none"><artifact pattern="{tmp_path}/none/[artifact].jar"/></filesystem>'
        "</resolvers></ivysettings>"
    )
    program = START.replace('"1g"', f'"1g", "spark.jars.ivySettings": "{settings}"')
    ended = run(program, HEADWATER_CACHE=str(tmp_path / "cache"))
    assert f"[{DownloadFailed('').code}]" in ended.stderr
    assert not list((tmp_path / "cache" / "jars").iterdir())


# --- the archive's rules ------------------------------------------------------------------------


@pytest.fixture
def found(tmp_path: Path) -> archive.Archive:
    """The place of an archive that nobody has made."""
    (tmp_path / "a.jar").write_text("a")
    return archive.locate(tmp_path, Java(tmp_path, 17, "17.0.9"), tmp_path, [tmp_path / "a.jar"])


def test_other_files_mean_another_archive(found: archive.Archive, tmp_path: Path) -> None:
    """A changed jar or another Java never meets an archive that was made for the old one."""
    (tmp_path / "a.jar").write_text("ab")
    jars = [tmp_path / "a.jar"]
    changed = archive.locate(tmp_path, found.java, tmp_path, jars)
    newer = archive.locate(tmp_path, Java(tmp_path, 17, "17.0.10"), tmp_path, jars)
    assert len({found.file, changed.file, newer.file}) == 3


def test_a_missing_archive_is_not_asked_for(found: archive.Archive) -> None:
    """Until there is one, Java is not told of any."""
    assert found.options() == []


def test_a_discarded_archive_is_not_made_again_at_once(found: archive.Archive) -> None:
    """An archive that a start failed with goes, and making it waits for a day."""
    found.file.parent.mkdir()
    found.file.touch()
    assert found.discard()
    assert not found.file.exists()
    now = found.failed.stat().st_mtime
    assert archive.failed_lately(found.failed, now + 3600)
    assert not archive.failed_lately(found.failed, now + 25 * 3600)


@pytest.mark.parametrize("name", ["SPARK_CONF_DIR", "HADOOP_CONF_DIR"])
def test_another_class_path_does_without(name: str) -> None:
    """Where folders join the class path no archive can hold, so none is used or made."""
    assert archive.suits({}, {})
    assert not archive.suits({}, {name: "/etc"})
    assert not archive.suits({"spark.driver.extraClassPath": "/x.jar"}, {})


def test_an_error_about_a_query_is_raised_and_not_printed(spark: SparkSession) -> None:
    """Whoever asked tells of it; PySpark's own page with the JVM's stack helps nobody."""
    printed = io.StringIO()
    listening = logging.StreamHandler(printed)
    logger = logging.getLogger("SQLQueryContextLogger")
    logger.addHandler(listening)
    try:
        with pytest.raises(AnalysisException, match="no_such_call"):
            spark.sql("SELECT no_such_call(1)")
    finally:
        logger.removeHandler(listening)
    assert not printed.getvalue()
