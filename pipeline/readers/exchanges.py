"""What requests and their answers say, from their bodies in traces and captures (`trace/plain.py`).

`of_answer` also needs the request, because most answers do not repeat what was asked.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from . import share_exchanges
from .bodies import NO_UUID, OK, Body, Names, Values, either, index_of, partitions, placed, topic_of
from .fields import ANSWERED, ASKED, NOT_REFUSED, RULES, Field, Fields, Part, answered_in, asked_in


def of_request(api: str, body: Body, names: Names) -> Iterator[Values]:
    """What a request says on its own: where a client, or a follower, reads, and what is asked of a
    share group."""
    if api in share_exchanges.APIS:
        yield from share_exchanges.of_request(api, body, names)
    if api != "Fetch":
        return
    replica = _replica(body)
    for topic, part in partitions(body, asked_in(api), names):
        row = {"kind": "position", "api": api, **placed(topic, part), **_columns(ASKED[api], body, part)}
        if replica is not None:
            row |= {"detail": f"follower {replica}"}
        yield row


def of_answer(api: str, request: Body, answer: Body, names: Names) -> Iterator[Values]:
    """What an answer to `request` says, including its errors."""
    if api in RULES and api != "ListOffsets":
        yield from _together(api, request, answer, names)
    elif reads := _ANSWERS.get(api):
        yield from reads(request, answer, names)
    yield from _refused(api, request, answer, names)


def offsets_for_reset(request: Body, answer: Body) -> Iterator[Values]:
    """ListOffsets for earliest or latest: a reset, if the client has lost its position before."""
    return _together("ListOffsets", request, answer, {})


def _together(api: str, request: Body, answer: Body, names: Names) -> Iterator[Values]:
    rule, asked = RULES[api], _asked(api, request, names)
    for group, body in _groups(request, answer) if api == "OffsetFetch" else [(None, answer)]:
        for topic, part in _fine(api, body, names):
            row = _columns(ASKED.get(api, {}), request, asked.get((topic, index_of(part)), {}))
            given = _columns(ANSWERED.get(api, {}), answer, part)
            if rule.asked is not None and row[rule.asked] is None:
                continue
            if not rule.any_offset and given["offset"] < 0:
                continue
            if rule.counted and row["end_offset"] is not None:
                row["end_offset"] += given["offset"]
            given = {name: given[name] for name in rule.answered}
            yield {"kind": rule.kind, **placed(topic, part), **row, **given} | (
                {} if group is None else {"group": group}
            )


def _groups(request: Body, answer: Body) -> Iterator[tuple[str | None, Body]]:
    """The groups of an answer to OffsetFetch; up to v7 only the request names its group."""
    asked = request.get("groups") or []
    only = asked[0]["group_id"] if len(asked) == 1 else request.get("group_id") or None
    for group in answer.get("groups") or [{**answer, "group_id": request.get("group_id")}]:
        yield group.get("group_id") or only, group


def _fetch(request: Body, answer: Body, names: Names) -> Iterator[Values]:
    if _replica(request) is not None:
        return
    asked = _asked("Fetch", request, names)
    for topic, part in _fine("Fetch", answer, names):
        batches = [each for each in part.get("records") or [] if "base_offset" in each]
        if not batches:
            continue
        wanted = _columns(ASKED["Fetch"], request, asked.get((topic, index_of(part)), {}))
        given = _columns(ANSWERED["Fetch"], answer, {**part, "records": batches})
        given["offset"] = max(given["offset"], wanted["offset"] or 0)
        given["current_epoch"] = wanted["current_epoch"]
        yield {"kind": "fetched", **placed(topic, part), **given}


def _join(request: Body, answer: Body, names: Names) -> Iterator[Values]:
    if answer.get("error_code", OK) == OK and answer.get("generation_id", -1) >= 0:
        yield {
            "kind": "group",
            "group": request["group_id"],
            "generation": answer["generation_id"],
            "detail": f"joined as {answer.get('member_id')}",
        }


def _init_producer(request: Body, answer: Body, names: Names) -> Iterator[Values]:
    if answer["error_code"] == OK:
        yield {
            "kind": "transaction",
            "transactional_id": request.get("transactional_id"),
            "producer_id": answer["producer_id"],
            "producer_epoch": answer["producer_epoch"],
            "detail": "InitProducerId",
        }


_ANSWERS: Final[dict[str, Callable[[Body, Body, Names], Iterator[Values]]]] = {
    "Fetch": _fetch,
    "JoinGroup": _join,
    "InitProducerId": _init_producer,
    **{each: partial(share_exchanges.of_answer, each) for each in share_exchanges.APIS},
}


def state_of_partitions(answer: Body, names: Names) -> Iterator[Values]:
    """What a Fetch answer says: high watermarks with last stable offsets, log starts, and the leader if it is
    another broker."""
    yield from current_leaders(answer, names)
    for topic, part in _fine("Fetch", answer, names):
        place = placed(topic, part)
        if part["high_watermark"] >= 0:
            stable = _known(part.get("last_stable_offset"))
            told = {"offset": part["high_watermark"], "from_offset": stable}
            yield {"kind": "high-watermark", **place, **told}
        if part.get("log_start_offset", -1) >= 0:
            yield {"kind": "log-start", **place, "offset": part["log_start_offset"]}


def leaders(answer: Body, names: Names) -> Iterator[Values]:
    """What a Metadata answer says about each partition."""
    for topic in answer.get("topics") or []:
        for part in topic.get("partitions") or []:
            place = {"topic": topic.get("name"), "partition": part["partition_index"]}
            epoch = _known(part.get("leader_epoch"))
            yield {"kind": "leader", **place, "leader": part["leader_id"], "leader_epoch": epoch}
            yield {"kind": "in-sync-replicas", **place, "replicas": part["isr_nodes"]}


def current_leaders(answer: Body, names: Names) -> Iterator[Values]:
    """The new leader in Produce and Fetch answers that refuse (KIP-951)."""
    for inside in ("partitions", "partition_responses"):
        for topic, part in partitions(answer, ("responses", inside), names):
            now = part.get("current_leader") or {}
            if now.get("leader_id", -1) >= 0:
                told = {"leader": now["leader_id"], "leader_epoch": _known(now.get("leader_epoch"))}
                yield {"kind": "leader", **placed(topic, part), **told}


def topic_ids(answer: Body) -> dict[str, str]:
    """Names of topics by their ids, from a Metadata answer."""
    found = {}
    for topic in answer.get("topics") or []:
        if topic.get("topic_id") not in NO_UUID and topic.get("name"):
            found[topic["topic_id"]] = topic["name"]
    return found


def ids_in(request: Body) -> set[str]:
    """The topic ids that a request names."""
    topics = request.get("topics") or request.get("topic_data") or []
    return {str(each["topic_id"]) for each in topics if each.get("topic_id") not in NO_UUID}


def _refused(api: str, request: Body, answer: Body, names: Names) -> Iterator[Values]:
    """A row for each error code, with what it is about and what was asked for there."""
    asked = _asked(api, request, names) if api in ASKED else {}
    common = {"group": request.get("group_id") or None} | _producer(request)
    for error, place in _errors(answer, {}, names):
        row = {"kind": "refused", "api": api, "error": error, **common}
        wanted = asked.get((place.get("topic"), place.get("partition")))
        if wanted is not None:
            asked_for = _columns(ASKED[api], request, wanted)
            row |= {name: value for name, value in asked_for.items() if name not in NOT_REFUSED}
        yield row | place


def _errors(value: Any, place: Values, names: Names) -> Iterator[tuple[str, Values]]:
    if isinstance(value, list):
        for inner in value:
            yield from _errors(inner, place, names)
    elif isinstance(value, dict):
        place = place | _named(value, names)
        for name, inner in value.items():
            if name.endswith("error_code"):
                if inner != OK:
                    yield inner, place
            elif isinstance(inner, dict | list):
                yield from _errors(inner, place, names)


def _named(value: Body, names: Names) -> Values:
    """The topic, partition or group that a part of an answer is about."""
    found: Values = {}
    index = either(value, "partition_index", "partition", "index")
    if isinstance(index, int):
        found["partition"] = index
    elif (topic := topic_of(value, names)) is not None:
        found["topic"] = topic
    if isinstance(group := value.get("group_id"), str):
        found["group"] = group
    return found


def _asked(api: str, request: Body, names: Names) -> dict[tuple[str | None, int | None], Body]:
    return {(topic, index_of(part)): part for topic, part in partitions(request, asked_in(api), names)}


def _fine(api: str, answer: Body, names: Names) -> Iterator[tuple[str | None, Body]]:
    """The partitions of an answer that have no error."""
    for topic, part in partitions(answer, answered_in(api), names):
        if part["error_code"] == OK:
            yield topic, part


def _columns(fields: Fields, body: Body, part: Body) -> Values:
    records = part.get("records")
    batches = records if isinstance(records, list) and records else [{}]
    whole = {Part.BODY: body, Part.PARTITION: part, Part.FIRST: batches[0], Part.LAST: batches[-1]}
    return {column: _value(field, whole.get(field.part, {})) for column, field in fields.items()}


def _value(field: Field, of: Body) -> Any:
    if field.part is Part.CONSTANT:
        return field.names[0]
    value = either(of, *field.names)
    if field.called is not None:
        return field.called.get(value)
    value = _known(value) if field.known else value
    if value is None:
        return None
    if field.before:
        return f"{field.before} {value}"
    return value + of[field.plus] if field.plus else value


def _known(value: Any) -> Any:
    """None for a negative number or an empty text."""
    return None if value is None or value == "" or (isinstance(value, int) and value < 0) else value


def _replica(body: Body) -> int | None:
    """The follower that fetches; None for a consumer."""
    state = body.get("replica_state") or {}
    replica: int = max(state.get("replica_id", -1), body.get("replica_id", -1))
    return replica if replica >= 0 else None


def _producer(body: Body) -> Values:
    return {
        "transactional_id": body.get("transactional_id"),
        "producer_id": _known(body.get("producer_id")),
        "producer_epoch": _known(body.get("producer_epoch")),
    }
