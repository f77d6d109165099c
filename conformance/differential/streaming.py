"""Waiting for streams groups: their coordinator learns of topics later than Metadata tells of them, and has
internal topics created after it has answered."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from ...rig.client import Client
from . import aside, coordinating, expecting
from .expecting import LATER, Topic
from .steps import Step
from .waiting import until

_PROBE: Final = "aside-streams"
_MEMBER: Final = "asideAAAAAAAAAAAAAAAAA"
_LONG_MS: Final = 300_000
_MISSING_SOURCES, _MISSING_INTERNAL = 1, 3
_LISTED: Final = re.compile(r"(?:Source topics|Internal topics are missing:) ([\w., -]+)")
_MORE: Final = re.compile(r" and (\d+) additional topics")
_CREATED_S: Final = 5.0


class Streaming:
    """`coordinator` gives a client of the broker that leads a topic, `asked` those of all brokers that are
    up, and `topics` what a sequence may have created itself."""

    def __init__(
        self,
        coordinator: Callable[[str], Client],
        asked: Callable[[], Iterable[Client]],
        topics: Collection[str],
    ) -> None:
        self._coordinator = coordinator
        self._asked = asked
        self._topics = topics
        self.internal: set[str] = set()
        """The topics that the coordinator may have created."""
        self._joined = False

    def settle(self, step: Step, fields: dict[str, Any], answer: Any) -> bool:
        """Whether the coordinator knows the topics as they are after the step."""
        if step.api == "streams_group_heartbeat":
            self._joined = True
            self.internal |= set(_internal(fields))
            wanted = _wanted(answer)
            return not wanted or until(lambda: self._there(wanted) and self._known(), _CREATED_S)
        if not self._joined or step.api not in LATER:
            return True
        expected = dict(expecting.changed(step, fields, answer, all_up=True))
        return until(lambda: expecting.met(expected, self._all) and self._known())

    def _there(self, names: Collection[str]) -> bool:
        return all(
            each["error_code"] == "NONE" for client in self._asked() for each in aside.topics(client, names)
        )

    @property
    def _all(self) -> list[Topic]:
        return aside.topics(self._coordinator(coordinating.GROUPS), self.internal.union(self._topics))

    def _known(self) -> bool:
        """Whether the coordinator knows of each topic how many partitions it has, and which are not there: it
        is asked in the name of a group that reads all of them."""
        found = self._all
        counts = {each["name"]: len(each["partitions"]) for each in found if each["error_code"] == "NONE"}
        gone = [each["name"] for each in found if each["error_code"] == "UNKNOWN_TOPIC_OR_PARTITION"]
        return self._counted(counts) and self._missing(gone)

    def _counted(self, counts: dict[str, int]) -> bool:
        if not counts:
            return True
        answer = self._probe([[name] for name in counts])
        told = {each["subtopology_id"]: len(each["partitions"]) for each in answer["active_tasks"] or ()}
        return told == {str(number): count for number, count in enumerate(counts.values())}

    def _missing(self, names: list[str]) -> bool:
        if not names:
            return True
        texts = [each["status_detail"] for each in self._probe([names])["status"]]
        return any(_count(text) == len(names) for text in texts)

    def _probe(self, sources: list[list[str]]) -> dict[str, Any]:
        """What the first member of a group is told that has a subtopology for each of these lists."""
        client = self._coordinator(coordinating.GROUPS)
        client.call("delete_groups", 2, {"groups_names": [_PROBE]})
        subtopologies = [
            {"subtopology_id": str(number), "source_topics": each} for number, each in enumerate(sources)
        ]
        who = {"group_id": _PROBE, "member_id": _MEMBER, "process_id": _MEMBER}
        nothing: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
        topology = {"epoch": 0, "subtopologies": subtopologies}
        joining = {"member_epoch": 0, "rebalance_timeout": _LONG_MS, "topology": topology, "client_tags": []}
        answer = client.call("streams_group_heartbeat", 0, {**who, **nothing, **joining})
        client.call("streams_group_heartbeat", 0, {**who, "member_epoch": -1})
        return dict(answer)


def _internal(fields: dict[str, Any]) -> Iterator[str]:
    for each in (fields.get("topology") or {}).get("subtopologies", ()):
        for kind in ("repartition_source_topics", "state_changelog_topics"):
            yield from (topic["name"] for topic in each.get(kind, ()))


def _wanted(answer: Any) -> list[str]:
    """The internal topics that are created because of a heartbeat, those that it names."""
    statuses = answer["status"] if isinstance(answer, dict) else ()
    texts = [each["status_detail"] for each in statuses or () if each["status_code"] == _MISSING_INTERNAL]
    return [name for text in texts if "Creation failed" not in text for name in _names(text)]


def _names(text: str) -> list[str]:
    listed = _LISTED.match(_MORE.sub("", text.partition(";")[0].removesuffix(" are missing.")))
    return listed[1].split(", ") if listed else []


def _count(text: str) -> int:
    more = _MORE.search(text)
    return len(_names(text)) + (int(more[1]) if more else 0)
