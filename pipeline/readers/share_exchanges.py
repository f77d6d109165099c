"""What requests of share groups and their answers say (KIP-932), from their bodies in traces and captures."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from .bodies import OK, Body, Names, Values, partitions, placed, topic_of

READING: Final = ("ShareFetch", "ShareAcknowledge")
APIS: Final = (*READING, "AlterShareGroupOffsets")
_TYPES: Final = ("gap", "accept", "release", "reject", "renew")
"""By number (ShareAcknowledgeRequest.json)."""
_ANSWERED: Final = ("responses", "partitions")
_ASKED: Final = ("topics", "partitions")
_LAST_EPOCH: Final = -1
"""Ends a share session (ShareRequestMetadata.FINAL_EPOCH)."""
_FIRST_EPOCH: Final = 0
_EVERY_MS: Final = 10_000
NOTHING: Final = "was given nothing"
ASKED, DONE, REFUSED, UNANSWERED = "asked", "done", "refused", "unanswered"


def of_request(api: str, body: Body, names: Names) -> Iterator[Values]:
    """What a member says of records, or where a group is to begin, whatever becomes of that."""
    if api not in READING:
        for topic, part in partitions(body, _ASKED, names):
            yield {**_offset(topic, part, body), "detail": ASKED}
        return
    for _, values in _acknowledgements(body, names):
        yield {"kind": "acknowledging", **values}


def of_answer(api: str, request: Body, answer: Body, names: Names) -> Iterator[Values]:
    """What was acknowledged and acquired, or where a group is to begin."""
    if api not in READING:
        yield from _altered(request, answer, names)
        return
    code = "acknowledge_error_code" if api == "ShareFetch" else "error_code"
    whole = answer["error_code"]
    parts = {(topic, part["partition_index"]): part for topic, part in partitions(answer, _ANSWERED, names)}
    for where, values in _acknowledgements(request, names):
        error = whole if whole != OK else parts.get(where, {}).get(code)
        if error is not None:
            yield {"kind": "acknowledged", **values, "error": None if error == OK else error}
    for (topic, _), part in parts.items():
        for each in part.get("acquired_records") or ():
            yield {
                "kind": "acquired",
                **placed(topic, part),
                "group": request.get("group_id"),
                "offset": each["first_offset"],
                "end_offset": each["last_offset"] + 1,
                "detail": f"delivery {each['delivery_count']}",
            }


def _acknowledgements(request: Body, names: Names) -> Iterator[tuple[tuple[str | None, int], Values]]:
    """With the partition; records next to each other of which the same is said are one."""
    for topic, part in partitions(request, _ASKED, names):
        for batch in part.get("acknowledgement_batches") or ():
            first, types = batch["first_offset"], batch["acknowledge_types"]
            spans = [(batch["last_offset"] + 1 - first, types[0])] if len(types) == 1 else _spans(types)
            for count, number in spans:
                named = _TYPES[number] if 0 <= number < len(_TYPES) else str(number)
                about = {"group": request.get("group_id"), "offset": first, "end_offset": first + count}
                yield (topic, part["partition_index"]), {**placed(topic, part), **about, "detail": named}
                first += count


def _spans(types: Sequence[int]) -> Iterator[tuple[int, int]]:
    for number, some in groupby(types):
        yield len(list(some)), number


def _altered(request: Body, answer: Body, names: Names) -> Iterator[Values]:
    """In 4.1 an answer without errors says nothing of partitions."""
    told = {(topic, part["partition_index"]): part for topic, part in partitions(answer, _ANSWERED, names)}
    for topic, part in partitions(request, _ASKED, names):
        found = told.get((topic, part["partition_index"]), answer)
        done = UNANSWERED if found is answer else DONE
        yield {**_offset(topic, part, request), "detail": done if found["error_code"] == OK else REFUSED}


def _offset(topic: str | None, part: Body, request: Body) -> Values:
    about = {"group": request["group_id"], "offset": part["start_offset"]}
    return {"kind": "share-offset", **placed(topic, part), **about}


class ShareSessions:
    """Which partitions a member's share session has at a broker, and when it was last told that the member
    was given nothing of them."""

    def __init__(self) -> None:
        self._places: dict[tuple[Any, ...], dict[tuple[str | None, int], int]] = {}

    def asked(self, broker: object, request: Body, names: Names) -> None:
        """A request came. Epoch 0 begins a session."""
        key = _session(broker, request)
        if request.get("share_session_epoch") == _FIRST_EPOCH:
            self._places.pop(key, None)
        for topic, part in partitions(request, _ASKED, names):
            self._places.setdefault(key, {}).setdefault((topic, part["partition_index"]), 0)
        for topic in request.get("forgotten_topics_data") or ():
            for index in topic["partitions"]:
                self._places.get(key, {}).pop((topic_of(topic, names), index), None)

    def answered(
        self, api: str, broker: object, request: Body, answer: Body, names: Names, now_ms: int
    ) -> Iterator[Values]:
        """Rows of a session that ended, or in which there is nothing to be had."""
        if answer["error_code"] != OK:
            return
        key, member = _session(broker, request), request.get("member_id")
        if request.get("share_session_epoch") == _LAST_EPOCH:
            for where in self._places.pop(key, {}):
                yield _of_session(request, where, f"{member} ended")
            return
        if api != "ShareFetch":
            return
        told = self._places.get(key, {})
        some = {
            (topic, part["partition_index"])
            for topic, part in partitions(answer, _ANSWERED, names)
            if part.get("acquired_records")
        }
        for where, last_ms in told.items():
            if where not in some and now_ms - last_ms >= _EVERY_MS:
                told[where] = now_ms
                yield _of_session(request, where, f"{member} {NOTHING}")


def _of_session(request: Body, where: tuple[str | None, int], detail: str) -> Values:
    about = {"topic": where[0], "partition": where[1], "group": request.get("group_id")}
    return {"kind": "share-session", **about, "detail": detail}


def _session(broker: object, request: Mapping[str, Any]) -> tuple[Any, ...]:
    return broker, request.get("group_id"), request.get("member_id")


def in_flight(ranges: Sequence[Sequence[Any]]) -> str:
    """`5-9 acquired 2 MEMBER UNTIL, 10-11 available 1`: offsets, state, deliveries; who has it until when."""
    return ", ".join(
        f"{first}-{last} {state} {count}" + ("" if member is None else f" {member} {until_ms}")
        for first, last, state, count, member, until_ms in ranges
    )
