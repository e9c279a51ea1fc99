"""An error that nobody foresaw is the failure of one view."""

from __future__ import annotations

import pytest

from headwater.control.retries import number_of
from headwater.graph.iteration import _failure
from headwater.vocabulary.errors import CommitFailed, InternalError


def test_it_is_named_and_kept() -> None:
    """The cause stays with it: a full disk may pass, a fault of ours does not."""
    failure = _failure("sums", KeyError("x"))
    assert isinstance(failure, InternalError)
    assert "sums: KeyError" in failure.what
    assert number_of(failure) == InternalError.number
    passing = _failure("sums", OSError("disk full"))
    assert passing is not None
    assert number_of(passing) == 1


def test_what_is_known_stays_what_it_is() -> None:
    known = CommitFailed("no")
    assert _failure("sums", known) is known
    assert _failure("sums", None) is None


def test_who_wants_to_leave_leaves() -> None:
    with pytest.raises(KeyboardInterrupt):
        _failure("sums", KeyboardInterrupt())
