"""`mockbroker analyze`: reads everything into one table, searches it, and keeps what was found."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from .acts import Act, acts
from .clocks import Clock, by_one, compared, ended_ms, shifts_of, span, spans_by_one
from .collecting import Collected, collect, observations
from .engine import AUTO, SHOWN, Engine, choose, open_engine
from .findings import TYPES
from .incidents import CONFIDENCE, Evidence, Incident, link, rule_out, summed
from .incidents_file import FILE, as_json
from .ledgers import notes
from .narrowing import EVERYTHING, Wanted, kept
from .plots import Plot, of_busiest, of_incidents
from .symptoms import Symptom, explain, look, noticed
from .tables import Table
from .tables import functions as F

KEPT: Final = 10_000
"""The findings of one search that are kept; more are only counted."""
SHOWN_UNREADABLE: Final = 1_000
Finding = dict[str, Any]
Tell = Callable[[str], None]


@dataclass(slots=True)
class Analysis:
    """What was read and what was found, and the `incidents` to which findings belong. `plots` are those
    of incidents, by number; if there are none, `busiest` has those of the busiest partitions. `unreadable`
    has the first rows of that kind, `kinds` counts all rows. `symptoms` are what users and operators would
    notice, whether an incident explains it or not. `clocks` are those that are not like the others: all
    times are told by the others. `acts` are what administrators did. All of this is what is `wanted`, and
    `left` counts the rest, in words."""

    collected: Collected
    findings: list[Finding] = field(default_factory=list)
    left_out: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    unreadable: list[dict[str, Any]] = field(default_factory=list)
    span_ms: tuple[int, int] | None = None
    plots: dict[int, Plot] = field(default_factory=dict)
    busiest: list[Plot] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    symptoms: list[Symptom] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    wanted: Wanted = EVERYTHING
    left: str = ""

    @property
    def files(self) -> int:
        return len(self.collected.files)


def analyze(
    paths: Iterable[str | Path],
    out: Path,
    *,
    timezone: tzinfo = UTC,
    engine: str = AUTO,
    master: str | None = None,
    tell: Tell = lambda _: None,
    wanted: Wanted = EVERYTHING,
) -> Analysis:
    """Writes observations and findings as Parquet and incidents as JSON into `out`, an empty or new folder,
    and returns them. All is searched, whatever is wanted.

    `engine` is one of `ENGINES`, `master` where Spark runs. PipelineError for a path that can't be read, if
    the files know nothing of what is wanted, and without Java if Spark needs it; MissingExtraError.
    """
    folder = out / "observations"
    name, why = choose(engine, master)
    with (
        TemporaryDirectory(prefix="mockbroker-analyze-") as scratch,
        closing(open_engine(name, Path(scratch), master, tell)) as used,
    ):
        collected = collect(paths, folder, used, timezone, tell)
        tell(f"counting, and searching with {SHOWN[name]} ({why})")
        found = search(collected, used, tell=tell, wanted=wanted)
    _narrow(found)
    tell("drawing")
    shifts = shifts_of(found.clocks)
    found.plots = of_incidents(folder, found.incidents, shifts)
    found.busiest = [] if found.incidents else of_busiest(folder, shifts)
    _write(out / "findings.parquet", found.findings)
    told = as_json(collected, found.kinds, found.span_ms, found.incidents, found.symptoms, wanted.as_json())
    told["clocks"] = [each.as_json() for each in found.clocks]
    told["acts"] = [each.as_json() for each in found.acts]
    told["plots"] = [each.as_json(number) for number, each in found.plots.items()]
    told["plots"] += [each.as_json(None) for each in found.busiest]
    (out / FILE).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return found


def search(
    collected: Collected,
    used: Engine,
    without: Collection[str] = (),
    tell: Tell = lambda _: None,
    wanted: Wanted = EVERYTHING,
) -> Analysis:
    """What is found in files that were read, all of it; the plots are left out. `without` are files that are
    not taken into account. PipelineError if the files know nothing of what is wanted."""
    from .client_groups import with_groups
    from .topic_ids import with_topics

    found = Analysis(collected, wanted=wanted)
    _count(found)
    spans = {file: span for file, span in collected.spans.items() if file not in without}
    with used.searching(found.kinds.total()):
        table = observations(used, collected.folder)
        if without:
            table = table.where(~F.col("file").isin(*without))
        table = with_topics(table, found.kinds)
        found.clocks = compared(table)
        if found.clocks:
            table, spans = by_one(table, found.clocks), spans_by_one(spans, found.clocks)
            found.span_ms = span(table)
        if wanted:
            wanted.check(_named(table, "group"), _named(table, "topic"), found.span_ms)
        table = used.at_hand(with_groups(table))
        _search(found, table, used.at_once, tell)
        noted = notes(used, table, found.kinds, tell)
        found.symptoms = noticed(table, noted, ended_ms(table))
        found.acts = acts(table, found.kinds, noted)
        tell("linking")
        evidence = Evidence(summed(table) if found.findings or found.symptoms else (), spans)
    found.findings.sort(key=_rank)
    found.incidents = _linked(found.findings, evidence)
    explain(found.symptoms, found.incidents)
    look(found.symptoms, evidence, found.acts)
    return found


def _named(table: Table, name: str) -> list[str]:
    return [row[name] for row in table.select(name).distinct().collect() if row[name] is not None]


def _narrow(found: Analysis) -> None:
    """Leaves what is wanted, and what that explains."""
    incidents, symptoms = len(found.incidents), len(found.symptoms)
    told = [(each.as_json(), each.explained_by) for each in found.symptoms]
    findings = [[event.finding for event in each.events] for each in found.incidents]
    numbers = {number: place for place, number in enumerate(kept(found.wanted, findings, told))}
    found.incidents = [found.incidents[number] for number in numbers]
    for symptom in found.symptoms:
        symptom.explained_by = [numbers[each] for each in symptom.explained_by if each in numbers]
    found.symptoms = [
        symptom
        for symptom, (about, _) in zip(found.symptoms, told, strict=True)
        if symptom.explained_by or found.wanted.fits([about])
    ]
    events = {id(event.finding) for each in found.incidents for event in each.events}
    found.findings = [each for each in found.findings if id(each) in events]
    left = (incidents - len(found.incidents), "incident"), (symptoms - len(found.symptoms), "symptom")
    found.left = ", ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in left if count)


def _linked(findings: list[Finding], evidence: Evidence) -> list[Incident]:
    incidents = link(findings)
    for each in incidents:
        each.ruled_out = list(rule_out(each, findings, evidence))
    return incidents


def _rank(finding: Finding) -> tuple[Any, ...]:
    return (
        CONFIDENCE.index(finding["confidence"]),
        finding["from_ms"] or 0,
        finding["signature"],
        finding["summary"],
    )


def _count(found: Analysis) -> None:
    """Counts from the metadata of Parquet; the only rows that are read are those about what could not be
    read."""
    import pyarrow.parquet as pq

    spans: list[int] = []
    for path in found.collected.folder.glob("kind=*/*.parquet"):
        metadata = pq.read_metadata(path)
        found.kinds[path.parent.name.removeprefix("kind=")] += metadata.num_rows
        time = metadata.schema.names.index("time_ms")
        for group in range(metadata.num_row_groups):
            known = metadata.row_group(group).column(time).statistics
            if known is not None and known.has_min_max:
                spans += known.min, known.max
    found.span_ms = (min(spans), max(spans)) if spans else None
    bad = found.collected.folder / "kind=unreadable"
    if bad.exists():
        rows = pq.read_table(bad, columns=["file", "position", "detail", "text"])
        rows = rows.sort_by([("file", "ascending"), ("position", "ascending")])
        found.unreadable = rows.slice(0, SHOWN_UNREADABLE).to_pylist()


def _search(found: Analysis, table: Table, at_once: int, tell: Tell) -> None:
    from .signatures import searches

    finds = {each.what: each.find for each in searches() if any(map(found.kinds.get, each.needs))}
    tell(f"searching for {', '.join(finds) or 'nothing: no search fits'}")

    def search(what: str) -> list[Finding]:
        return finds[what](table).limit(KEPT + 1).collect()

    with ThreadPoolExecutor(at_once) as pool:
        running = {pool.submit(search, what): what for what in finds}
        for number, future in enumerate(as_completed(running), 1):
            rows = future.result()
            found.left_out += max(len(rows) - KEPT, 0)
            found.findings += rows[:KEPT]
            tell(f"searched for {running[future]} ({number} of {len(running)})")


def _write(path: Path, findings: list[Finding]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = pa.int64()
    row = pa.struct([("file", pa.string()), ("position", place), ("time_ms", place), ("text", pa.string())])
    kinds = {
        "string": pa.string(),
        "int": pa.int32(),
        "bigint": place,
        "array<string>": pa.list_(pa.string()),
    }
    schema = pa.schema([(name, kinds.get(kind, pa.list_(row))) for name, kind in TYPES.items()])
    pq.write_table(pa.Table.from_pylist(findings, schema), path)
