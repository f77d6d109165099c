"""Traces of what clients might ask and brokers might answer: drawn, as far as Kafka's protocol goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from .readers.test_trace import HEAD

Body = dict[str, Any]
IDS = {"orders": "884c52a3-a597-46a4-a073-7c550df37709", "paid": "0d0a4a3c-54f8-4c8b-a3b5-6d1c7cbb2d60"}
PLACES = [(topic, partition) for topic in IDS for partition in range(2)]
GROUP = "readers"


class Drawn:
    """One connection's requests and their answers. Those of Fetch may continue a session (KIP-227)."""

    def __init__(self, random: Random, client: str, replica: int) -> None:
        self._random = random
        self.client = client
        self._replica = replica
        self._session: dict[tuple[str, int], int] = {}
        self._by_id = random.random() < 0.5

    def exchange(self) -> tuple[str, Body, Body]:
        drawn = [self._fetch] * 4 + [self._produce, self._commit, self._restore, self._epoch, self._list]
        return self._random.choice([*drawn, self._join, self._init_producer])()

    def _number(self) -> int:
        return self._random.randrange(100)

    def _epoch_number(self) -> int:
        return self._random.randrange(-1, 3)

    def _error(self, *others: str) -> str:
        return self._random.choice(["NONE"] * 4 + ["NOT_LEADER_OR_FOLLOWER", *others])

    def _places(self) -> list[tuple[str, int]]:
        return self._random.sample(PLACES, self._random.randint(1, len(PLACES)))

    def _topics(self, parts: dict[tuple[str, int], Body], name: str = "name", of: str = "partitions") -> Any:
        topics: dict[str, list[Body]] = {}
        for (topic, _), part in parts.items():
            topics.setdefault(topic, []).append(part)
        return [
            ({"topic_id": IDS[topic], name: ""} if self._by_id else {"topic_id": None, name: topic})
            | {of: found}
            for topic, found in topics.items()
        ]

    def _batches(self, base: int) -> list[Body]:
        batches = []
        for _ in range(self._random.randrange(3)):
            count = self._random.randint(1, 20)
            batch = {"base_offset": base, "records": count, "leader_epoch": self._epoch_number()}
            batches.append(batch | {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1})
            base += count
        return batches

    def _fetch(self) -> tuple[str, Body, Body]:
        goes_on = bool(self._session) and self._random.random() < 0.6
        if not goes_on:
            self._session.clear()
        named = {place: self._number() for place in self._places() if not goes_on or self._number() < 30}
        self._session |= named
        asked = {
            (topic, partition): {
                "partition": partition,
                "current_leader_epoch": self._epoch_number(),
                "fetch_offset": offset,
                "last_fetched_epoch": self._epoch_number(),
            }
            for (topic, partition), offset in named.items()
        }
        request = {
            "replica_state": {"replica_id": self._replica, "replica_epoch": -1},
            "replica_id": -1,
            "session_epoch": 1 if goes_on else 0,
            "topics": self._topics(asked, "topic"),
            "forgotten_topics_data": [],
        }
        given = {
            (topic, partition): {
                "partition_index": partition,
                "error_code": self._error("OFFSET_OUT_OF_RANGE"),
                "records": self._batches(max(0, offset - self._random.randrange(10))),
            }
            for (topic, partition), offset in self._session.items()
        }
        for part in given.values():
            if part["error_code"] != "NONE":
                part["records"] = None
        return "Fetch", request, {"error_code": "NONE", "responses": self._topics(given, "topic")}

    def _produce(self) -> tuple[str, Body, Body]:
        asked, given = {}, {}
        for topic, partition in self._places():
            producer = self._random.randrange(-1, 3)
            batch = {"base_offset": 0, "records": self._number(), "leader_epoch": -1, "producer_id": producer}
            batch |= dict.fromkeys(("producer_epoch", "base_sequence"), min(producer, 0) or self._number())
            asked[topic, partition] = {"index": partition, "records": [batch]}
            error = self._error("OUT_OF_ORDER_SEQUENCE_NUMBER")
            offset = -1 if error != "NONE" else self._number()
            given[topic, partition] = {"index": partition, "error_code": error, "base_offset": offset}
        request = {"transactional_id": self._random.choice([None, "tx"])}
        request |= {"topic_data": self._topics(asked, of="partition_data")}
        return "Produce", request, {"responses": self._topics(given, of="partition_responses")}

    def _commit(self) -> tuple[str, Body, Body]:
        asked, given = {}, {}
        for topic, partition in self._places():
            number = {"partition_index": partition}
            offset = {"committed_offset": self._number(), "committed_leader_epoch": self._epoch_number()}
            asked[topic, partition] = number | offset
            given[topic, partition] = number | {"error_code": self._error("ILLEGAL_GENERATION")}
        topics, answer = self._topics(asked), {"topics": self._topics(given)}
        if self._number() < 50:
            generation = {"generation_id_or_member_epoch": self._epoch_number()}
            return "OffsetCommit", {"group_id": GROUP, **generation, "topics": topics}, answer
        producer = {"transactional_id": "tx", "producer_id": self._number(), "producer_epoch": 0}
        generation = {"generation_id": self._epoch_number()}
        return "TxnOffsetCommit", {"group_id": GROUP, **producer, **generation, "topics": topics}, answer

    def _restore(self) -> tuple[str, Body, Body]:
        given = {
            (topic, partition): {
                "partition_index": partition,
                "committed_offset": self._number() - 1,
                "committed_leader_epoch": self._epoch_number(),
                "error_code": self._error("UNSTABLE_OFFSET_COMMIT"),
            }
            for topic, partition in self._places()
        }
        topics = self._topics(given)
        if self._number() < 50:
            return "OffsetFetch", {"group_id": GROUP, "groups": []}, {"topics": topics, "groups": []}
        groups = [{"group_id": GROUP, "error_code": "NONE", "topics": topics}]
        request = {"group_id": "", "groups": [{"group_id": GROUP, "topics": []}]}
        return "OffsetFetch", request, {"topics": [], "groups": groups}

    def _epoch(self) -> tuple[str, Body, Body]:
        asked, given = {}, {}
        for topic, partition in self._places():
            epochs = {"current_leader_epoch": self._epoch_number(), "leader_epoch": self._number()}
            asked[topic, partition] = {"partition": partition, **epochs}
            end = {"leader_epoch": self._epoch_number(), "end_offset": self._number() - 1}
            given[topic, partition] = {"partition": partition, "error_code": self._error(), **end}
        return (
            "OffsetForLeaderEpoch",
            {"topics": self._topics(asked, "topic")},
            {"topics": self._topics(given, "topic")},
        )

    def _list(self) -> tuple[str, Body, Body]:
        asked, given = {}, {}
        by_id, self._by_id = self._by_id, False
        for topic, partition in self._places():
            at = {"current_leader_epoch": self._epoch_number(), "timestamp": self._random.choice([-2, -1, 7])}
            asked[topic, partition] = {"partition_index": partition, **at}
            end = {"leader_epoch": self._epoch_number(), "offset": self._number() - 1}
            given[topic, partition] = {"partition_index": partition, "error_code": self._error(), **end}
        found = ("ListOffsets", {"topics": self._topics(asked)}, {"topics": self._topics(given)})
        self._by_id = by_id
        return found

    def _join(self) -> tuple[str, Body, Body]:
        error = self._error("MEMBER_ID_REQUIRED")
        answer = {"error_code": error, "generation_id": self._epoch_number(), "member_id": self.client}
        return "JoinGroup", {"group_id": GROUP, "member_id": ""}, answer

    def _init_producer(self) -> tuple[str, Body, Body]:
        answer = {"error_code": self._error(), "producer_id": self._number(), "producer_epoch": 0}
        return "InitProducerId", {"transactional_id": self._random.choice([None, "tx"])}, answer


def lines(seed: int, exchanges: int) -> Iterator[Body]:
    """Rows of a trace, in which connections overtake each other."""
    random = Random(seed)
    clients = [Drawn(random, f"client-{number}", 5 if number == 3 else -1) for number in range(4)]
    waiting: dict[str, Body] = {}
    topics = [{"topic_id": each, "name": name, "error_code": "NONE"} for name, each in IDS.items()]
    yield _row(0, clients[0], "Metadata", "request", {"topics": []})
    yield _row(0, clients[0], "Metadata", "answer", {"topics": topics})
    for number in range(1, exchanges):
        drawn = random.choice(clients)
        if drawn.client in waiting:
            yield waiting.pop(drawn.client)
        api, request, answer = drawn.exchange()
        yield _row(number, drawn, api, "request", request)
        waiting[drawn.client] = _row(number, drawn, api, "answer", answer)
    yield from waiting.values()


def _row(number: int, drawn: Drawn, api: str, kind: str, body: Body) -> Body:
    row = {"kind": kind, "number": number, "time_ms": number, "broker": 1, "connection": f"c-{drawn.client}"}
    row |= {"client_id": drawn.client, "api": api, "version": 1, "correlation_id": number, "names": []}
    errors = sorted({error for error in _errors(body) if error != "NONE"})
    return row | ({"outcome": "answer", "errors": errors} if kind == "answer" else {}) | {"body": body}


def _errors(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["error_code"]] if "error_code" in value else []
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _errors(inner)


def write(path: Path, seed: int, exchanges: int) -> None:
    rows = (json.dumps(row, separators=(",", ":")) for row in lines(seed, exchanges))
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows))
