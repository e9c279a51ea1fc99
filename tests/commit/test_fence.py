"""Whether a commit that failed met another one: told by the kind of the error, not by its words."""

from __future__ import annotations

import pytest

from headwater.commit.committer import _is_fence

STACK = """An error occurred while calling o1.commit.
: java.io.IOException: No space left on device
\tat java.base/java.util.concurrent.ConcurrentHashMap.compute(ConcurrentHashMap.java:1)
\tat org.apache.spark.sql.delta.ConcurrentAppendExceptionHandler.run(X.scala:2)
"""


def _failure(module: str, name: str, text: str = "") -> Exception:
    made: type[Exception] = type(name, (Exception,), {"__module__": module})
    return made(text)


@pytest.mark.parametrize(
    ("failure", "fenced"),
    [
        (_failure("delta.exceptions.captured", "ConcurrentAppendException"), True),
        (_failure("delta.exceptions.captured", "ProtocolChangedException"), True),
        (_failure("pyspark.errors", "AnalysisException", "[DELTA_CONCURRENT_APPEND] files"), True),
        (_failure("py4j.protocol", "Py4JJavaError", STACK), False),
        (_failure("java.util", "ConcurrentModificationException"), False),
        (OSError("disk full"), False),
    ],
)
def test_only_another_commit_is_a_fence(failure: Exception, fenced: bool) -> None:
    """A full disk whose stack trace speaks of concurrency may be followed by a rebuild."""
    assert _is_fence(failure) is fenced
