"""The matrix as a picture: each contender's seconds over recomputing, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.matrix.contenders import AUTO, BY_HAND, FORCED, RECOMPUTE
from benchmarks.matrix.results import Row

_LEFT, _RIGHT, _TOP, _STEP, _WIDTH = 300, 30, 70, 20, 900
_LEAST, _MOST = 1 / 64, 8.0
_GRID = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.head { font-weight: 600; font-size: 14px; }
.quiet { fill: #59636e; }
.grid { stroke: #d1d9e0; }
.one { stroke: #59636e; stroke-width: 1.5; }
.auto { fill: #0969da; }
.hand { fill: none; stroke: #bc4c00; stroke-width: 1.6; }
.forced { stroke: #59636e; stroke-width: 1.4; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; }
.quiet { fill: #9198a1; }
.grid { stroke: #3d444d; }
.one { stroke: #9198a1; }
.auto { fill: #4493f8; }
.hand { stroke: #f0883e; }
.forced { stroke: #9198a1; }
}
"""


def plot(rows: Sequence[Row], shapes: Mapping[str, str], changes: Mapping[str, str]) -> str:
    """An SVG; `shapes` and `changes` are the titles by name, in the order of the rows."""
    ordered = [
        row
        for size in sorted({row.rows for row in rows})
        for shape in shapes
        for change in changes
        for row in rows
        if row.key == (size, shape, change) and row.seconds(RECOMPUTE)
    ]
    body, y, before = [], _TOP, (0, "")
    for row in ordered:
        if (row.rows, row.shape) != before:
            before = (row.rows, row.shape)
            y += _STEP
            title = f"{shapes[row.shape]}, {row.rows:,} rows"
            body.append(_text(10, y + 4, title, "head"))
            y += _STEP
        body.append(_text(24, y + 4, changes[row.change], "quiet"))
        body += _marks(row, y)
        y += _STEP
    height = y + _STEP
    inside = "\n".join([*_legend(), *_grid(height), *body])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">\n'
        f"<title>Seconds of a refresh over those of recomputing</title>\n"
        f"<style>{_STYLE}</style>\n{inside}\n</svg>\n"
    )


def _marks(row: Row, y: int) -> list[str]:
    """A bar of each forced technique, a ring for the MERGE by hand, a dot for auto on top."""
    base = row.seconds(RECOMPUTE) or 1.0
    marks = []
    for way in FORCED:
        seconds = row.seconds(way)
        if seconds is not None:
            x = _x(seconds / base)
            said = escape(f"{way}: {seconds / base:.2f}x, {seconds:.2f} s")
            line = f'<line class="forced" x1="{x}" x2="{x}" y1="{y - 6}" y2="{y + 6}">'
            marks.append(f"{line}<title>{said}</title></line>")
    for who, mark in ((BY_HAND, "hand"), (AUTO, "auto")):
        seconds = row.seconds(who)
        if seconds is not None:
            said = escape(f"{who}: {seconds / base:.2f}x, {seconds:.2f} s")
            circle = f'<circle class="{mark}" cx="{_x(seconds / base)}" cy="{y}" r="5">'
            marks.append(f"{circle}<title>{said}</title></circle>")
    return marks


def _x(value: float) -> float:
    """Where a ratio stands; what lies outside is drawn at the border."""
    inside = min(max(value, _LEAST), _MOST)
    part = math.log(inside / _LEAST) / math.log(_MOST / _LEAST)
    return round(_LEFT + part * (_WIDTH - _LEFT - _RIGHT), 1)


def _grid(height: int) -> list[str]:
    drawn = []
    for value in _GRID:
        x, kind = _x(value), "one" if value == 1 else "grid"
        label = f"1/{1 / value:.0f}" if value < 1 else f"{value:g}x"
        drawn.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{_TOP}" y2="{height - 10}"/>')
        drawn.append(
            f'<text class="quiet" text-anchor="middle" x="{x}" y="{_TOP - 8}">{label}</text>'
        )
    return drawn


def _legend() -> list[str]:
    y = 20
    return [
        _text(10, y + 4, "Seconds of a refresh, recomputing = 1", "head"),
        f'<circle class="auto" cx="{_LEFT + 90}" cy="{y}" r="5"/>',
        _text(_LEFT + 102, y + 4, "Headwater, auto"),
        f'<line class="forced" x1="{_LEFT + 230}" x2="{_LEFT + 230}" y1="{y - 6}" y2="{y + 6}"/>',
        _text(_LEFT + 240, y + 4, "Headwater, a forced technique"),
        f'<circle class="hand" cx="{_LEFT + 440}" cy="{y}" r="5"/>',
        _text(_LEFT + 452, y + 4, "MERGE by hand"),
    ]


def _text(x: int, y: int, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x}" y="{y}">{escape(words)}</text>'
