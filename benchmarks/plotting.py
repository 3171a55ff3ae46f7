"""Line charts as SVG, for the figures in docs/: a few hundred bytes of text each, nothing to install."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
)  # told apart by the colour-blind, too
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "4 1")
FONT = 'font-family="sans-serif" font-size="11"'
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 300, 50, 12, 30, 92


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: its title, what x is, points by line, and the range of y."""

    title: str
    across: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    limits: tuple[float, float]


def draw(panels: Sequence[Panel]) -> str:
    """The panels side by side, as the text of an SVG file."""
    whole = WIDTH * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {HEIGHT}" {FONT}>',
        f'<rect width="{whole}" height="{HEIGHT}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        parts += [f'<g transform="translate({number * WIDTH} 0)">', *_panel(panel), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel) -> list[str]:
    low, high = panel.limits
    xs = sorted({x for points in panel.lines.values() for x, _ in points})

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - LEFT - RIGHT)
        return across, TOP + (high - min(max(y, low), high)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{escape(panel.title)}</text>']
    for step in range(6):
        y = low + (high - low) * step / 5
        (left, level), (right, _) = at(xs[0], y), at(xs[-1], y)
        parts.append(f'<path d="M{left:.1f} {level:.1f}H{right:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6:.1f}" y="{level + 4:.1f}" text-anchor="end">{y:.2f}</text>')
    shown = xs if len(xs) < 8 else [xs[round(step * (len(xs) - 1) / 5)] for step in range(6)]
    parts += [
        f'<text x="{at(x, low)[0]:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>'
        for x in shown
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - BOTTOM + 32}" text-anchor="middle">{escape(panel.across)}</text>'
    )
    for number, (name, points) in enumerate(panel.lines.items()):
        style = f'stroke="{COLOURS[number % 6]}" stroke-width="2" stroke-dasharray="{DASHES[number % 6]}" fill="none"'
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in sorted(points)))
        parts.append(f'<polyline points="{path}" {style}/>')
        x, y = LEFT + number % 2 * 180, HEIGHT - 36 + number // 2 * 16
        parts.append(f'<path d="M{x} {y - 4}h24" {style}/><text x="{x + 30}" y="{y}">{escape(name)}</text>')
    return parts
