"""The parts of a refresh and what each cost."""

from __future__ import annotations

import pytest

from headwater.execute.recorder import Recorder
from headwater.vocabulary.profile import REST, StepCost, Work, total_work


def test_a_level_adds_up_to_the_one_above() -> None:
    """What no part accounts for is said, at every level, so that no time is lost."""
    recorder = Recorder("tag")
    recorder.passed("claim", 0.5)
    with recorder.part("execute"):
        with recorder.part("changes") as changes:
            changes.rows = 3
        with recorder.part("delta"):
            pass
    costs = recorder.costs(10.0, None)
    assert [cost.name for cost in costs] == ["claim", "execute", REST]
    assert sum(cost.seconds for cost in costs) == pytest.approx(10.0)
    execute = costs[1]
    assert [part.name for part in execute.parts] == ["changes", "delta", REST]
    assert sum(part.seconds for part in execute.parts) == pytest.approx(execute.seconds)
    assert execute.parts[0].rows == 3


def test_a_part_that_fails_is_kept_and_closed() -> None:
    """The time of a way that broke down is part of the whole; what follows is not inside it."""
    recorder = Recorder("tag")
    with pytest.raises(ValueError, match="broke"), recorder.part("execute"):
        raise ValueError("broke")
    with recorder.part("plan"):
        pass
    assert [cost.name for cost in recorder.costs(1.0, None)] == ["execute", "plan", REST]


def test_work_goes_to_the_part_whose_tag_it_has() -> None:
    """Work is counted once: a part's own stands beside that of its parts."""
    recorder = Recorder("tag")
    with recorder.part("commit") as outer, recorder.part("files") as inner:
        tags = (outer.tag, inner.tag)
    assert max(tags) == inner.tag  # by which a job's innermost part is known
    work = dict(zip(tags, (Work(1, 1), Work(2, 5, bytes_written=7)), strict=True))
    (commit, _) = recorder.costs(1.0, work)
    assert commit.work == Work(1, 1)
    assert commit.parts[0].work == Work(2, 5, bytes_written=7)
    assert total_work(recorder.costs(1.0, work)) == Work(3, 6, bytes_written=7)
    assert total_work(recorder.costs(1.0, None)) is None


def test_a_profile_of_an_earlier_version_can_be_read() -> None:
    """The history may hold steps that were written before they had work and parts."""
    old = StepCost.from_json({"step": "commit", "seconds": 1.0, "rows": None})
    assert old == StepCost("commit", 1.0)
    assert StepCost.from_json(old.to_json()) == old
