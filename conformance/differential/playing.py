"""Putting a sequence to one broker: its answers, with all that differs from run to run replaced."""

import re
import struct
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any, Final

from ..client import Client, DisconnectedError, api_keys, decode, encode, flexible, key_of
from ..normalise import Normaliser
from ..scene import CLOSED, NO_ANSWER, UNKNOWN_TOPIC_ID, Target
from .binding import Bindings
from .mutating import mutate
from .steps import SLOW, Sequence, Step

BEHIND_MS: Final = 1000
"""How far back the "now" of a sequence lies: a broker's clock may be a little behind ours."""
_TIMEOUT_S: Final = 20.0
_WAIT_S: Final = 0.5
"""How long a request that may have to wait is given to be answered."""
_SETTLE_S: Final = 5.0
_PAUSE_S: Final = 0.005
_MAY_FORBID_CREATION: Final = 4
_MS: Final = re.compile(r"-?\b\d{13,19}\b")
_UUID_LENGTH: Final = 36
_ALIKE: Final = 0.8
_NEAR_MS: Final = 15 * 60 * 1000
_DAY_MS: Final = 24 * 60 * 60 * 1000
_MINUTE_MS: Final = 60 * 1000
_LARGEST: Final = 2**63 - 1
_TOPIC_CHANGES: Final = frozenset({"create_topics", "delete_topics", "create_partitions", "metadata"})
_CONFIG_CHANGES: Final = frozenset({"alter_configs", "incremental_alter_configs"})
_AFTER_CHANGE_S: Final = 0.06
"""A broker answers once the change is committed, and applies it a moment later; nothing tells when. Nor does
anything tell which topics a malformed request changes."""


class Playing:
    """One sequence at one broker. `suffix` and `now_ms` are to be the same at the other."""

    def __init__(self, target: Target, sequence: Sequence, suffix: str, now_ms: int) -> None:
        self._target = target
        self._sequence = sequence
        self._suffix = suffix
        self._bound = Bindings(suffix, now_ms)
        ranks = {node: rank for rank, (node, _, _) in enumerate(target.nodes)}
        ports = {port: rank for rank, (_, _, port) in enumerate(target.nodes)}
        self._normaliser = Normaliser(suffix, target.cluster_id, ranks, ports)
        self._normaliser.name_topic_id(UNKNOWN_TOPIC_ID, "unknown")
        self._clients: dict[int, Client] = {}
        self._late: list[tuple[int, Step, Client]] = []
        self._aside = Client(target.host, target.port, "aside", _TIMEOUT_S)
        self.topics: set[str] = set()
        self._coming: set[str] = set()

    def play(self) -> list[Any]:
        """One answer for each step, and one list of those that came late, by number of the step."""
        answers: list[Any] = []
        try:
            for number, step in enumerate(self._sequence.steps):
                answers.append(self._normalised(self._ask(number, step), step))
            answers.append(self._late_answers())
        finally:
            for client in [*self._clients.values(), *(each[2] for each in self._late), self._aside]:
                client.close()
        return answers

    def _client(self, number: int) -> Client:
        if number not in self._clients:
            self._clients[number] = Client(
                self._target.host, self._target.port, self._sequence.client_id, _TIMEOUT_S
            )
        return self._clients[number]

    def _ask(self, number: int, step: Step) -> Any:
        client = self._client(step.client)
        fields = self._bound.fill(step.fields)
        body = encode(step.api, step.version, fields)
        _, header = client.header(key_of(step.api), step.version, flexible(step.api, step.version))
        frame = mutate(header + body, step.mutations)
        silent = step.api == "produce" and fields.get("acks") == 0
        waits = step.api in SLOW or bool(step.mutations) or (step.api == "produce" and _null_records(fields))
        try:
            client.set_timeout(_WAIT_S if waits else _TIMEOUT_S)
            client.send_frame(frame)
            if silent and not step.mutations:
                answer = self._silence(client)
            else:
                answer = self._answer(client, step, frame)
        except DisconnectedError:
            answer = CLOSED
        except TimeoutError:
            self._late.append((number, step, self._clients.pop(step.client)))
            return NO_ANSWER
        self._bound.learn(step, answer)
        return (
            answer
            if self._settle(step, _sent(frame), fields, answer)
            else {"answer": answer, "settled": False}
        )

    def _silence(self, client: Client) -> str:
        """Asks something else: its answer shows that there was none before it."""
        pending = client.send("api_versions", 0, {})
        client.receive(pending)
        return NO_ANSWER

    def _answer(self, client: Client, step: Step, frame: bytes) -> Any:
        answer = client.read_frame()
        if step.mutations:
            return _decoded_by_header(frame, answer)
        return _readable(step.api, step.version, answer)

    def _late_answers(self) -> list[Any]:
        found = []
        for number, step, client in self._late:
            client.set_timeout(_WAIT_S)
            try:
                frame = client.read_frame()
                found.append([number, self._normalised(_readable(step.api, step.version, frame), step)])
            except TimeoutError:
                found.append([number, NO_ANSWER])
            except DisconnectedError:
                found.append([number, CLOSED])
        return found

    # -- what a broker does a moment after it has answered

    def _settle(self, step: Step, sent: str | None, fields: dict[str, Any], answer: Any) -> bool:
        """Whether the broker came to rest. `sent` is the API in the header as it was sent."""
        if step.api in ("create_topics", "metadata"):
            named = [each.get("name") for each in fields.get("topics") or ()]
            self.topics.update(name for name in named if name and self._suffix in name)
        self._coming = _created(step, fields, answer) & self.topics
        if step.api in _TOPIC_CHANGES and not step.mutations:
            return self._until(self._topics_settled)
        if step.api in _CONFIG_CHANGES or (step.mutations and sent in _TOPIC_CHANGES | _CONFIG_CHANGES):
            time.sleep(_AFTER_CHANGE_S)
        elif step.api == "end_txn" or (step.api == "init_producer_id" and fields.get("transactional_id")):
            return self._until(self._transactions_settled)
        return True

    @staticmethod
    def _until(holds: Callable[[], bool]) -> bool:
        limit = time.monotonic() + _SETTLE_S
        while not holds():
            if time.monotonic() > limit:
                return False
            time.sleep(_PAUSE_S)
        return True

    def _topics_settled(self) -> bool:
        if not self.topics:
            return True
        asked = {
            "topics": [{"name": each} for each in sorted(self.topics)],
            "allow_auto_topic_creation": False,
        }
        found = self._aside.call("metadata", 12, asked)
        ready = []
        for topic in found["topics"]:
            if topic["error_code"] != "NONE":
                if topic["name"] in self._coming:
                    return False
                if topic["error_code"] == "LEADER_NOT_AVAILABLE":
                    return False
                continue
            self._bound.topic_ids[topic["name"]] = topic["topic_id"]
            self._normaliser.name_topic_id(topic["topic_id"], topic["name"].replace(f"-{self._suffix}", ""))
            if any(each["error_code"] != "NONE" for each in topic["partitions"]):
                return False
            ready.append(
                {
                    "name": topic["name"],
                    "partitions": [
                        {
                            "partition_index": each["partition_index"],
                            "current_leader_epoch": -1,
                            "timestamp": -1,
                        }
                        for each in topic["partitions"]
                    ],
                }
            )
        if not ready:
            return True
        ends = self._aside.call("list_offsets", 6, {"replica_id": -1, "isolation_level": 0, "topics": ready})
        return all(
            part["error_code"]
            not in ("UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE")
            for topic in ends["topics"]
            for part in topic["partitions"]
        )

    def _transactions_settled(self) -> bool:
        found = self._aside.call("list_transactions", 0, {})
        if found["error_code"] != "NONE":
            return bool(found["error_code"] != "COORDINATOR_LOAD_IN_PROGRESS")
        return not any(
            self._suffix in each["transactional_id"] and each["transaction_state"].startswith("Prepare")
            for each in found["transaction_states"]
        )

    # -- what can be compared

    def _normalised(self, answer: Any, step: Step) -> Any:
        for producer, _ in self._bound.producers.values():
            self._normaliser.name_producer(producer)
        # What is no Fetch any more since its API key was changed is not in order either.
        changed = any(each[:2] == ("set", 1) for each in step.mutations)
        answer = self._normaliser.answer(self._own(answer), "" if changed else step.api)
        if step.api in ("describe_transactions", "describe_producers"):
            answer = _unordered(answer)
        return self._texts(answer)

    def _own(self, answer: Any) -> Any:
        """Without the groups, transactions and topics of other sequences in lists of all."""
        if not isinstance(answer, dict):
            return answer
        for key, name in (
            ("groups", "group_id"),
            ("transaction_states", "transactional_id"),
            ("topics", "name"),
        ):
            listed = answer.get(key)
            if isinstance(listed, list) and len(listed) and isinstance(listed[0], dict) and name in listed[0]:
                answer = {**answer, key: [each for each in listed if self._is_own(each[name])]}
        return answer

    def _is_own(self, name: str | None) -> bool:
        return name is None or name.startswith("__") or self._suffix in name

    def _texts(self, value: Any) -> Any:
        """Without the present time and spoiled member ids in texts."""
        if isinstance(value, dict):
            return {key: self._texts(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._texts(each) for each in value]
        if isinstance(value, str):
            return "<spoiled id>" if self._spoiled(value) else _MS.sub(self._time, value)
        return value

    def _spoiled(self, text: str) -> bool:
        """Whether it is a member id in which bytes were changed: it differs from one broker to the other."""
        return len(text) >= _UUID_LENGTH - 4 and any(
            SequenceMatcher(None, text, known, autojunk=False).ratio() > _ALIKE
            for known in self._bound.members.values()
        )

    def _time(self, match: re.Match[str]) -> str:
        """A time near the present, also one from which the largest long was taken."""
        for less in (0, _LARGEST):
            after = (int(match[0]) + less - self._bound.now_ms + _LARGEST) % (2 * _LARGEST + 2) - _LARGEST
            if abs(after) < _NEAR_MS:
                return "<now - largest>" if less else "<now>"
            if abs(after) < _DAY_MS:
                return f"<now {round(after / _MINUTE_MS):+d} min>"
        return match[0]


def _unordered(value: Any) -> Any:
    """Without the order of hash tables: of partitions in DescribeTransactions, and of producers, whose ids
    are others at each broker."""
    if isinstance(value, dict):
        return {key: _unordered(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    if all(isinstance(each, dict) and "producer_id" in each for each in value):
        return sorted(value, key=lambda each: str(each["producer_id"]))
    return sorted(value) if all(isinstance(each, int) for each in value) else list(map(_unordered, value))


def _sent(frame: bytes) -> str | None:
    """The API in a request's header."""
    return api_keys().get(struct.unpack_from(">h", frame)[0]) if len(frame) >= 2 else None


def _null_records(fields: dict[str, Any]) -> bool:
    return any(part["records"] is None for topic in fields["topic_data"] for part in topic["partition_data"])


def _created(step: Step, fields: dict[str, Any], answer: Any) -> set[str]:
    """Topics that CreateTopics created, or Metadata that did not find them: they may not be there yet."""
    if step.mutations:
        return set()
    if step.api == "create_topics" and isinstance(answer, dict) and not fields["validate_only"]:
        return {each["name"] for each in answer["topics"] if each["error_code"] == "NONE"}
    if step.api != "metadata" or not isinstance(answer, dict):
        return set()
    if step.version >= _MAY_FORBID_CREATION and not fields["allow_auto_topic_creation"]:
        return set()
    missing = ("UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE")
    return {each["name"] for each in answer["topics"] if each["name"] and each["error_code"] in missing}


def _decoded_by_header(frame: bytes, answer: bytes) -> Any:
    """The answer to a changed request, by the API and version that stand in its header now."""
    if len(frame) >= 4:
        key, version = struct.unpack_from(">hh", frame)
        api = api_keys().get(key)
        if api == "api_versions" and answer[4:6] == b"\0\x23":
            version = 0
        if api is not None:
            return _readable(api, version, answer)
    return {"unreadable": answer[4:].hex()}


def _readable(api: str, version: int, answer: bytes) -> Any:
    """kio reads no time of -1 in DescribeTransactions: 0 stands for it."""
    for data in (answer, answer.replace(b"\xff" * 8, bytes(8))):
        try:
            return decode(api, version, data)
        except Exception:
            continue
    return {"unreadable": answer[4:].hex()}
