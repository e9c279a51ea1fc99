"""Consistent hashing."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.control.placement import Ring

ADDRESSES = st.sets(st.text(min_size=1, max_size=8), min_size=2, max_size=12)


@settings(max_examples=50, deadline=None)
@given(ADDRESSES, st.data())
def test_a_leaving_member_moves_only_its_own_keys(members: set[str], data: st.DataObject) -> None:
    """S1: keys of others stay where they are, and a member that comes back gets its own back."""
    leaving = data.draw(st.sampled_from(sorted(members)))
    whole, without = Ring(members), Ring(members - {leaving})
    for key in map(str, range(200)):
        if whole.owner(key) != leaving:
            assert without.owner(key) == whole.owner(key)
        assert without.owner(key) != leaving


def test_keys_are_spread() -> None:
    """With 100 virtual nodes nobody has more than twice its share."""
    ring = Ring(f"host-{n}:{n}" for n in range(20))
    counts = Counter(ring.owner(f"table-{n}") for n in range(20_000))
    assert len(counts) == 20
    assert max(counts.values()) < 2 * 1000


def test_an_empty_ring_owns_nothing() -> None:
    """Without members there is no owner, and no error."""
    assert Ring(()).owner("orders") is None


def test_the_place_of_a_key_does_not_depend_on_the_process() -> None:
    """Every coordinator computes the same map, so a new leader moves nothing."""
    ring = Ring(("a:1", "b:1", "c:1"))
    assert [ring.owner(name) for name in ("orders", "people", "items", "events")] == [
        Ring(("c:1", "a:1", "b:1")).owner(name) for name in ("orders", "people", "items", "events")
    ]
