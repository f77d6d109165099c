"""What a report draws: a partition's offsets around an incident, and how far each group is behind."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .incidents import Incident

if TYPE_CHECKING:
    import pyarrow as pa

DRAWN: Final = 12
"""How many incidents are drawn, or, if there are none, how many partitions."""
POINTS: Final = 240
"""How many slices of time a series has at most; a slice has two points at most."""
LEAST_AROUND_MS: Final = 10_000
"""What is drawn before and after an incident, at least; else a fifth of its length."""
HIGH_WATERMARK: Final = "high watermark"
_GROUP: Final = "group "
_OF_GROUPS: Final = ("commit", "restore")
_KINDS: Final = (*_OF_GROUPS, "high-watermark", "log-start")
_COLUMNS: Final = ("topic", "partition", "time_ms", "offset", "group", "broker", "file")
Points = list[tuple[int, int]]
Place = tuple[str, int]


@dataclass(slots=True)
class Plot:
    """Series of (time in Unix ms, offset) by name, of lag by group, and `marks` at the times of an incident's
    events, by their number from 1."""

    topic: str
    partition: int
    offsets: dict[str, Points] = field(default_factory=dict)
    lag: dict[str, Points] = field(default_factory=dict)
    marks: list[tuple[int, int]] = field(default_factory=list)

    def as_json(self, incident: int | None) -> dict[str, Any]:
        """`incident` is the number of the one to which it belongs."""
        return {"incident": incident, **asdict(self)}


def of_incidents(
    folder: Path, incidents: Sequence[Incident], shifts: Mapping[str, int] | None = None
) -> dict[int, Plot]:
    """By the incident's number, plots of the first ones that are about a partition and have times. `shifts`
    are what the times of some files are too much."""
    found: dict[int, Plot] = {}
    for number, incident in enumerate(incidents):
        place, span = _place(incident), incident.span_ms
        if len(found) < DRAWN and place is not None and span is not None:
            around = max(LEAST_AROUND_MS, (span[1] - span[0]) // 5)
            wider = span[0] - around, span[1] + around
            plot = _plot(folder, place, shifts, wider) or _plot(folder, place, shifts)
            if plot is not None:
                times = (each.time_ms for each in incident.events)
                plot.marks = [(time, event) for event, time in enumerate(times, 1) if time is not None]
                found[number] = plot
    return found


def of_busiest(folder: Path, shifts: Mapping[str, int] | None = None) -> list[Plot]:
    """Plots of the partitions with the most commits."""
    rows = _rows(folder, "commit", ("topic", "partition"))
    if rows is None:
        return []
    counted = rows.drop_null().group_by(["topic", "partition"]).aggregate([([], "count_all")])
    counted = counted.sort_by(
        [("count_all", "descending"), ("topic", "ascending"), ("partition", "ascending")]
    )
    places = [(row["topic"], row["partition"]) for row in counted.slice(0, DRAWN).to_pylist()]
    plots = (_plot(folder, place, shifts) for place in places)
    return [each for each in plots if each is not None]


def _place(incident: Incident) -> Place | None:
    """The partition to which it happened, or else the first one that it affected."""
    for event in incident.events:
        topic, partition = event.finding["topic"], event.finding["partition"]
        if topic is not None and partition is not None:
            return topic, partition
    return None


def _plot(
    folder: Path, place: Place, shifts: Mapping[str, int] | None, span: tuple[int, int] | None = None
) -> Plot | None:
    """None if there is no line to draw."""
    plot = Plot(*place)
    for kind in _KINDS:
        rows = _rows(folder, kind, _COLUMNS, place)
        if rows is not None and rows.num_rows:
            rows = _between(_shifted(rows, shifts or {}), span)
        for (group, broker), points in ({} if rows is None else _sliced(rows)).items():
            plot.offsets.setdefault(_series(kind, group, broker), []).extend(points)
    if not any(len(each) > 1 for each in plot.offsets.values()):
        return None
    plot.offsets = {name: sorted(set(points)) for name, points in sorted(plot.offsets.items())}
    plot.lag = _lags(plot.offsets, _leaders(folder, place, shifts))
    return plot


def _series(kind: str, group: str | None, broker: int | None) -> str:
    if kind in _OF_GROUPS:
        return f"{_GROUP}{'?' if group is None else group}"
    what = kind.replace("-", " ")
    return what if broker is None else f"{what}, broker {broker}"


def _rows(
    folder: Path,
    kind: str,
    columns: Sequence[str],
    place: Place | None = None,
) -> "pa.Table | None":
    import pyarrow.dataset as ds

    path = folder / f"kind={kind}"
    if not path.exists():
        return None
    wanted = ds.scalar(True)
    if place is not None:
        wanted = (ds.field("topic") == place[0]) & (ds.field("partition") == place[1])
        wanted = wanted & ds.field("time_ms").is_valid()
    if "offset" in columns:
        wanted = wanted & (ds.field("offset") >= 0)
    return ds.dataset(path, format="parquet").to_table(columns=list(columns), filter=wanted)


def _shifted(rows: "pa.Table", shifts: Mapping[str, int]) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.compute as pc

    if not shifts:
        return rows
    at = pc.index_in(rows["file"], pa.array(list(shifts)))
    too_much = pc.coalesce(pc.take(pa.array(list(shifts.values())), at), 0)
    times = pc.subtract(rows["time_ms"], too_much)
    return rows.set_column(rows.schema.get_field_index("time_ms"), "time_ms", times)


def _between(rows: "pa.Table", span: tuple[int, int] | None) -> "pa.Table":
    import pyarrow.compute as pc

    if span is None:
        return rows
    times = rows["time_ms"]
    return rows.filter(pc.and_(pc.greater_equal(times, span[0]), pc.less_equal(times, span[1])))


def _sliced(rows: "pa.Table") -> "dict[tuple[str | None, int | None], set[tuple[int, int]]]":
    """By group and broker, of each slice of time the lowest and the newest offset, so that even a short
    rewind is visible."""
    import pyarrow.compute as pc

    if not rows.num_rows:
        return {}
    first, last = pc.min(rows["time_ms"]).as_py(), pc.max(rows["time_ms"]).as_py()
    at = pc.divide(pc.subtract(rows["time_ms"], first), (last - first) // POINTS + 1)
    ordered = rows.append_column("at", at).sort_by([("time_ms", "ascending"), ("offset", "ascending")])
    slices = ordered.group_by(["group", "broker", "at"], use_threads=False).aggregate(
        [("offset", "min"), ("offset", "last"), ("time_ms", "first"), ("time_ms", "last")]
    )
    found: dict[tuple[str | None, int | None], set[tuple[int, int]]] = {}
    for row in slices.to_pylist():
        ends = {(row["time_ms_first"], row["offset_min"]), (row["time_ms_last"], row["offset_last"])}
        found.setdefault((row["group"], row["broker"]), set()).update(ends)
    return found


def _leaders(folder: Path, place: Place, shifts: Mapping[str, int] | None) -> Points:
    """When each broker became the partition's leader, as far as that is known."""
    rows = _rows(folder, "leader", ("time_ms", "leader", "file"), place)
    if rows is None:
        return []
    rows = _shifted(rows, shifts or {})
    return sorted((row["time_ms"], row["leader"]) for row in rows.drop_null().to_pylist())


def _lags(offsets: Mapping[str, Points], leaders: Points) -> dict[str, Points]:
    """The leader's high watermark minus the offset, at the time of each offset. A follower's high watermark
    is older; if nobody knows who leads, the largest one is taken."""
    ends = {name: each for name, each in offsets.items() if name.startswith(HIGH_WATERMARK)}
    if not ends:
        return {}

    def end(time_ms: int) -> int:
        of_leader = ends.get(_series("high-watermark", None, _at(leaders, time_ms)))
        asked = ends.values() if of_leader is None else [of_leader]
        return max(known[0][1] if (at := _at(known, time_ms)) is None else at for known in asked)

    return {
        name.removeprefix(_GROUP): [(time, max(end(time) - offset, 0)) for time, offset in points]
        for name, points in offsets.items()
        if name.startswith(_GROUP)
    }


def _at(points: Points, time_ms: int) -> int | None:
    """The last value until then."""
    number = bisect_right(points, (time_ms, 2**63))
    return points[number - 1][1] if number else None
