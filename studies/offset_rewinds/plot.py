"""What the mirror found and read, as an SVG for a page with a light or a dark background."""

from collections.abc import Iterator, Sequence
from typing import Final

from .incidents import Played, Run

_WIDTH: Final = 340
_HEIGHT: Final = 190
_LEFT: Final = 44
_TOP: Final = 30
_PLOT: Final = (_WIDTH - _LEFT - 12, _HEIGHT - _TOP - 36)
_STYLE: Final = """
text{font:11px sans-serif;fill:#444}.title{font-weight:bold}.axis{stroke:#888}.log{fill:#8884}
.read{stroke:#1a73c8;stroke-width:7}.again{stroke:#d1242f;stroke-width:7}.committed{fill:#e08a00}
@media(prefers-color-scheme:dark){
text{fill:#ccc}.read{stroke:#58a6ff}.again{stroke:#ff7b72}.committed{fill:#ffc04d}
}
"""


def svg(played: Played, topics: Sequence[str]) -> str:
    """A panel for each topic: the log of each run, what was committed, and what was read."""
    panels = "\n".join(
        f'<g transform="translate({number * _WIDTH} 0)">\n' + "\n".join(_panel(topic, played)) + "\n</g>"
        for number, topic in enumerate(topics)
    )
    size = f'viewBox="0 0 {_WIDTH * len(topics)} {_HEIGHT}" width="{_WIDTH * len(topics)}" height="{_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{_STYLE}</style>\n{panels}\n</svg>\n'


def _panel(topic: str, played: Played) -> Iterator[str]:
    runs = played.of(topic)
    most = runs[-1].log_end
    wide, high = _PLOT
    step = wide / len(runs)

    def x(each: Run) -> float:
        return round(_LEFT + step * (each.run - 0.5), 1)

    def y(offset: int) -> float:
        return round(_TOP + high * (1 - offset / most), 1)

    yield f'<text class="title" x="{_LEFT}" y="16">{topic}</text>'
    for offset in (0, most // 2, most):
        yield f'<text x="{_LEFT - 6}" y="{y(offset) + 4}" text-anchor="end">{offset}</text>'
    for each in runs:
        if each.run % 2:
            day = 3 * (each.run - 1)
            yield f'<text x="{x(each)}" y="{_TOP + high + 15}" text-anchor="middle">{day}</text>'
    yield f'<text x="{_LEFT + wide / 2}" y="{_HEIGHT - 6}" text-anchor="middle">day</text>'
    bottom = y(0)
    yield f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{_LEFT + wide}" fill="none"/>'
    seen = 0
    for each in runs:
        left, top = round(x(each) - step / 2, 1), y(each.log_end)
        yield (
            f'<rect class="log" x="{left}" y="{top}" width="{round(step, 1)}" '
            f'height="{round(y(each.log_start) - top, 1)}"/>'
        )
        again = [offset for offset in each.read if offset < seen]
        new = [offset for offset in each.read if offset >= seen]
        for name, offsets in ("again", again), ("read", new):
            if offsets:
                yield f'<path class="{name}" d="M{x(each)} {y(offsets[0])}V{y(offsets[-1] + 1)}"/>'
        seen = max([seen, *(offset + 1 for offset in each.read)])
        if each.committed >= 0:
            yield f'<circle class="committed" cx="{x(each)}" cy="{y(each.committed)}" r="3.5"/>'
