"""Which incidents explain a symptom: one of their findings is about the same thing, and near in time."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..acts import Act, shortly_before
from ..consequences import BEHIND, LOSSY, REWOUND, SET_BACK
from ..incidents import Evidence, Incident
from ..incidents.evidence import UNKNOWN
from ..incidents.model import Finding
from .kinds import KINDS
from .model import Symptom

_BEFORE_MS: Final = 60_000
"""How much later than the symptom a finding may begin: the greatest distance between clocks."""
_AFTER_MS: Final = 3_600_000
"""How much later than its cause something may be noticed."""
_OFFSETS: Final = "__consumer_offsets"
_BY_NAME: Final = {each.name: each for each in KINDS}
_TO_GROUPS: Final = (
    *(*SET_BACK, *REWOUND, *BEHIND, "admin-reset", "offsets-expired", "poll-overrun"),
    *("share-offsets-reset", "delivery-limit-reached", "offsets-topic-expanded", "offsets-topic-retention"),
)
"""What happened to groups may follow from what happened to a partition, and does not explain it."""
_OF_BROKERS: Final = (
    *LOSSY,
    "unreplicated-tail-lost",
    "coordinator-moved-while-loading",
    "follower-log-lost",
    "only-replica-lost",
)
"""What may happen while a broker is away."""
_NOTHING_LOST: Final = ("leader-away",)
_LOST: Final = (
    *("acknowledged-missing", "records-skipped", "out-of-range", "position-back", "position-lost"),
    *("commit-back", "commit-missing", "written-twice"),
)
"""What does not come of it that a partition has no leader for a while."""
_STANDS: Final = "lag-stands"
_NO_FURTHER: Final = ("response-too-large",)
"""What keeps a group from going on, in whatever partition."""
_NO_ANSWER: Final = (
    "broker-unresolved",
    "controller-away",
    "cut-off-leader",
    "leader-away",
    "too-few-in-sync",
)
"""What keeps producers from being answered, whoever they are."""
_TIMES_OUT: Final = "records-timed-out"
_BROKER: Final = "broker"
_GROUP: Final = None
_Numbered = tuple[int, Finding]


def explain(symptoms: Sequence[Symptom], incidents: Sequence[Incident]) -> None:
    """Fills in `explained_by`."""
    about: dict[tuple[Any, ...], dict[int, _Numbered]] = {}
    for number, incident in enumerate(incidents):
        for each in incident.events:
            for key in _keys(each.finding):
                about.setdefault(key, {})[id(each)] = number, each.finding
    for symptom in symptoms:
        rows = {row[:2] for row in symptom.rows}
        found: set[int] = set()
        keys = {*rows, (symptom.topic,), (symptom.group, _GROUP), (_OFFSETS,)}
        if _BY_NAME[symptom.name].of_broker:
            keys |= {(_BROKER, symptom.broker), *((_BROKER, name) for name in _OF_BROKERS)}
        if symptom.name == _TIMES_OUT:
            keys |= {(_BROKER, name) for name in _NO_ANSWER}
        for key in keys:
            for number, finding in about.get(key, {}).values():
                if number not in found and _explains(finding, symptom, rows):
                    found.add(number)
        symptom.explained_by = sorted(found)


def _keys(finding: Finding) -> Iterator[tuple[Any, ...]]:
    """By what a symptom that it may explain finds it."""
    if finding["topic"] is not None:
        yield (finding["topic"],)
    if finding["group"] is not None:
        yield finding["group"], _GROUP
    if finding["broker"] is not None:
        yield _BROKER, finding["broker"]
    if finding["signature"] in (*_OF_BROKERS, *_NO_ANSWER):
        yield _BROKER, finding["signature"]
    for each in finding["evidence"]:
        yield each["file"], each["position"]


def look(symptoms: Sequence[Symptom], evidence: Evidence, done: Sequence[Act] = ()) -> None:
    """Fills in `looked`, `missing` and `before` of what nothing explains."""
    for symptom in symptoms:
        if symptom.explained_by:
            continue
        about: dict[str, Any] = {
            "from_ms": symptom.from_ms,
            "to_ms": symptom.to_ms,
            "group": symptom.group,
            "topic": symptom.topic,
            "partition": symptom.partition,
            "broker": symptom.broker,
        }
        found = [evidence.look(need, about) for need in _BY_NAME[symptom.name].causes]
        away = (each.told for each in found if not each.covered)
        symptom.looked = [each.told for each in found if each.covered]
        who = symptom.group, symptom.client, symptom.producer_id, symptom.transactional_id
        symptom.before = shortly_before(
            done,
            symptom.from_ms,
            symptom.to_ms,
            symptom.topic,
            symptom.group,
            of_client=any(each is not None for each in who),
        )
        symptom.missing = [told for told in away if not told.startswith(UNKNOWN)]


def _explains(finding: Finding, symptom: Symptom, rows: set[tuple[str, int]]) -> bool:
    if not _near(finding, symptom):
        return False
    if finding["signature"] in _TO_GROUPS and _BY_NAME[symptom.name].of_partition:
        return False
    if finding["signature"] in _NOTHING_LOST and symptom.name in _LOST:
        return False
    if any((each["file"], each["position"]) in rows for each in finding["evidence"]):
        return True
    if _BY_NAME[symptom.name].of_broker and finding["signature"] in _OF_BROKERS:
        return _meanwhile(finding, symptom)
    if symptom.name == _TIMES_OUT and finding["signature"] in _NO_ANSWER:
        return finding["topic"] in (None, symptom.topic or finding["topic"]) and _meanwhile(finding, symptom)
    return _about_the_same(finding, symptom)


def _meanwhile(finding: Finding, symptom: Symptom) -> bool:
    """Whether something began while a broker was away, or just after it came back."""
    begun, ended = finding["from_ms"], finding["to_ms"]
    if begun is None or ended is None or symptom.from_ms is None or symptom.to_ms is None:
        return False
    return bool(begun <= symptom.to_ms + _BEFORE_MS and symptom.from_ms - _BEFORE_MS <= ended)


def _about_the_same(finding: Finding, symptom: Symptom) -> bool:
    group, topic, partition = finding["group"], finding["topic"], finding["partition"]
    producer = finding["producer_id"]
    if None not in (group, symptom.group) and group != symptom.group:
        return False
    if symptom.broker is not None and finding["broker"] == symptom.broker and topic in (None, symptom.topic):
        return True
    if None not in (producer, symptom.producer_id) and producer != symptom.producer_id:
        return False
    if topic is not None and topic == symptom.topic:
        return partition in (None, symptom.partition) or symptom.partition is None
    if symptom.name == _STANDS and finding["signature"] in _NO_FURTHER:
        return group is not None
    wide = _BY_NAME[symptom.name].wide
    if topic in (None, _OFFSETS) and wide:
        return group is not None or (topic == _OFFSETS and symptom.group is not None)
    return False


def _near(finding: Finding, symptom: Symptom) -> bool:
    begun, ended = finding["from_ms"], finding["to_ms"]
    if begun is None or ended is None or symptom.from_ms is None or symptom.to_ms is None:
        return True
    return bool(begun - _BEFORE_MS <= symptom.to_ms and symptom.from_ms <= ended + _AFTER_MS)
