"""Incrementally maintained materialized views on Spark and Delta Lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.vocabulary.errors import HeadwaterError

if TYPE_CHECKING:
    from headwater.api import Headwater, open  # noqa: A004  (the public name is `headwater.open`)

__all__ = ["Headwater", "HeadwaterError", "__version__", "open"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the API on first use, so that a command which needs no Spark starts fast."""
    if name in {"open", "Headwater"}:
        from headwater import api  # noqa: PLC0415  (the point of this function)

        return getattr(api, name)
    raise AttributeError(name)
