"""Why a technique is or is not open to a view."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Reason:
    """A stable code for programs and one sentence for people."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"
