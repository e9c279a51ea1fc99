"""Command lines run in this process, on a project of their own, with the Spark of all tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli.command import Surroundings
from headwater.cli.main import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Ran:
    """What a command line came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Project:
    """A project folder and a way to run commands on it."""

    folder: Path
    spark: SparkSession

    def __call__(self, verb: str, *words: str) -> Ran:
        out, err = StringIO(), StringIO()
        around = Surroundings(out, err, spark=self.spark)
        status = run([verb, *words, "-C", str(self.folder)], around)
        return Ran(status, out.getvalue(), err.getvalue())

    def change(self, statement: str) -> None:
        """Run a statement in which {orders} and {customers} stand for the tables."""
        places = {name: f"delta.`{self.folder}/data/{name}`" for name in ("orders", "customers")}
        self.spark.sql(statement.format(**places))


def made(folder: Path, spark: SparkSession) -> Project:
    assert run(["init", str(folder)], Surroundings(StringIO(), StringIO())) == 0
    return Project(folder, spark)


@pytest.fixture
def fresh(tmp_path: Path, small_spark: SparkSession) -> Project:
    """A project as `init` leaves it."""
    return made(tmp_path / "shop", small_spark)


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory, small_spark: SparkSession) -> Project:
    """A project with its views built; shared by the tests of a file, which leave it up to date."""
    project = made(tmp_path_factory.mktemp("cli") / "shop", small_spark)
    ran = project("apply")
    assert ran.status == 0, ran.err
    return project
