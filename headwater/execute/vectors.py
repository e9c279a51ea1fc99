"""Deletion vectors: which rows of a data file are gone, told without writing the file anew.

Delta's own bitmaps and store are used: one file holds the vectors of a commit.
"""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from headwater.execute.delta import DELTA
from headwater.execute.jvm import java, module, nothing, some

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Positions = Sequence[int]
"""Rows of a data file, counted from 0."""


def without_rows(
    session: SparkSession, path: str, losses: Iterable[tuple[Any, Positions]]
) -> Iterator[tuple[Any, Any]]:
    """For every data file (an AddFile) the actions that put it back without some of its rows."""
    table = java(session, "org.apache.hadoop.fs.Path")(path)
    stores = module(session, f"{DELTA}.storage.dv.DeletionVectorStore$")
    store = stores.createInstance(session._jsparkSession.sessionState().newHadoopConf())  # noqa: SLF001
    descriptors = module(session, f"{DELTA}.actions.DeletionVectorDescriptor$")
    portable = module(session, f"{DELTA}.deletionvectors.RoaringBitmapArrayFormat$").Portable()
    name = java(session, "java.util.UUID").fromString(str(uuid.uuid4()))
    place = store.generateFileNameInTable(store.pathWithFileSystem(table), name, "")
    with closing(store.createWriter(place)) as writer:
        for file, positions in losses:
            bitmap = _bitmap(session, positions)
            before = file.deletionVector()
            gone = 0 if before is None else before.cardinality()
            if before is not None:
                bitmap.merge(store.read(before, table))
            if bitmap.cardinality() != gone + len(positions):
                raise ValueError(f"{file.path()} would lose a row that it has lost already")
            bitmap.runOptimize()
            written = writer.write(bitmap.serializeAsByteArray(portable))
            vector = descriptors.onDiskWithRelativePath(
                name,
                "",
                written.length(),
                bitmap.cardinality(),
                some(session, written.offset()),
                nothing(session),
            )
            both = file.removeRows(vector, True, True).productIterator()  # noqa: FBT003
            yield both.next(), both.next()


def _bitmap(session: SparkSession, positions: Positions) -> Any:
    """Handed over as bytes: a call for every row would take a second for ten thousand."""
    context: Any = session.sparkContext
    jvm = context._jvm  # noqa: SLF001
    packed = array("q", positions)
    order = java(session, "java.nio.ByteOrder").nativeOrder()
    values = context._gateway.new_array(jvm.long, len(packed))  # noqa: SLF001
    buffer = java(session, "java.nio.ByteBuffer").wrap(packed.tobytes())
    buffer.order(order).asLongBuffer().get(values)
    rows = module(session, "scala.collection.immutable.ArraySeq$").unsafeWrapArray(values)
    bitmaps = module(session, f"{DELTA}.deletionvectors.RoaringBitmapArray$")
    return bitmaps.apply(rows)
