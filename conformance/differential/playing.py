"""Putting a sequence to one broker: its answers, with all that differs from run to run replaced."""

import re
import struct
import time
from collections.abc import Sequence as Many
from difflib import SequenceMatcher
from typing import Any, Final, Protocol

from ...rig.client import Client, DisconnectedError, api_keys, decode, encode, flexible, key_of
from ...rig.normalise import Normaliser
from ...rig.scene import CLOSED, NO_ANSWER, UNKNOWN_TOPIC_ID, Target
from . import granting
from .binding import Bindings
from .connecting import await_producer_ids, log_in
from .coordinating import COORDINATORS, SHARES
from .mutating import mutate
from .ordering import of_endpoints, of_members, unordered, with_lists_in_order, with_missing_in_order
from .passing import without_passing
from .settling import TIMEOUT_S, Settling
from .steps import ASIDE, DISCONNECT, KILL, MOVE, RESTARTS, SLOW, START, USERS, Sequence, Step
from .together import Key, Together

BEHIND_MS: Final = 1000
"""How far back the "now" of a sequence lies: a broker's clock may be a little behind ours."""
_WAIT_S: Final = 0.5
"""How long a request that may have to wait is given to be answered."""
_A_MOMENT_S: Final = 0.002
"""So that no transaction began in the millisecond in which those of some duration are asked for."""
_MS: Final = re.compile(r"-?\b\d{13,19}\b")
_UUID_LENGTH: Final = 36
_ALIKE: Final = 0.8
_NEAR_MS: Final = 15 * 60 * 1000
_DAY_MS: Final = 24 * 60 * 60 * 1000
_MINUTE_MS: Final = 60 * 1000
_LARGEST: Final = 2**63 - 1


class Brokers(Protocol):
    """What can stop, kill and start brokers, by id."""

    def stop_broker(self, broker: int, /) -> None: ...

    def kill_broker(self, broker: int, /) -> None: ...

    def start_broker(self, broker: int, /) -> None: ...


class Playing:
    """One sequence at one cluster. `suffix` and `now_ms` are to be the same at the other. `brokers` is needed
    only by `RESTARTS`. `recorded` are the answers of another cluster: what that answered is waited for."""

    def __init__(
        self,
        target: Target,
        sequence: Sequence,
        suffix: str,
        now_ms: int,
        brokers: Brokers | None = None,
        recorded: list[Any] | None = None,
        together: Together | None = None,
        rank: int = 0,
        logins: Many[tuple[str, int]] = (),
    ) -> None:
        """`rank` is that of the cluster among those that are asked `together`. `logins` are the addresses at
        which users log in, by broker."""
        self._target = target
        self._together, self._rank_among = together or Together(), rank
        self._answered, self._answered_late = _answered(recorded)
        self._brokers, self._logins = brokers, logins
        self._down: set[int] = set()
        self._sequence = sequence
        self._suffix = suffix
        self._bound = Bindings(suffix, now_ms)
        ranks = {node: rank for rank, (node, _, _) in enumerate(target.nodes)}
        ports = {port: rank for rank, (_, _, port) in enumerate(target.nodes)}
        ports |= {port: rank for rank, (_, port) in enumerate(logins)}
        self._normaliser = Normaliser(suffix, target.cluster_id, ranks, ports)
        self._normaliser.name_topic_id(UNKNOWN_TOPIC_ID, "unknown")
        self._clients: dict[tuple[int, int], Client] = {}
        self._late: list[tuple[int, Step, Client]] = []
        shares = any("share" in step.api for step in sequence.steps)
        self._coordinators = (*COORDINATORS, SHARES) if shares else COORDINATORS
        consumers = any(step.api == "consumer_group_heartbeat" for step in sequence.steps)
        self._settling = Settling(
            target, suffix, self._bound, self._normaliser, self._coordinators, consumers=consumers
        )

    def play(self) -> list[Any]:
        """One answer for each step, and one list of those that came late, by number of the step."""
        answers: list[Any] = []
        try:
            if any(step.api == "alter_replica_log_dirs" for step in self._sequence.steps):
                self._bound.log_dir = self._settling.log_dir()
            self._coordinate_first()
            for number, step in enumerate(self._sequence.steps):
                if step.api in RESTARTS:
                    answer = self._restart(step)
                elif step.api == MOVE:
                    answer = self._move(step)
                elif step.api in ASIDE:
                    answer = self._beside(step)
                else:
                    answer = self._normalised(self._ask(number, step), step)
                news = self._settling.news()
                if news is not None:
                    answer = {"answer": answer, "metadata": self._normaliser.answer(news)}
                answers.append(answer)
            answers.append(self._late_answers())
        finally:
            for client in [*self._clients.values(), *(each[2] for each in self._late)]:
                client.close()
            self._settling.close()
            self._together.over(self._rank_among)
            self._start(self._down)
        return answers

    @property
    def topics(self) -> set[str]:
        """Those that may have been created."""
        return self._settling.topics | self._settling.streaming.internal

    def _rank(self, step: Step) -> int:
        """Of the broker that is asked; that of a partition without leader is the first."""
        if isinstance(step.broker, int):
            return step.broker
        topic, index = step.broker
        leader, _ = self._bound.leaders.get((self._bound.fill(topic), index), (-1, 0))
        return next((rank for rank, (node, _, _) in enumerate(self._target.nodes) if node == leader), 0)

    def _client(self, connection: tuple[int, int]) -> Client:
        """The connection of that number to the broker of that rank."""
        if connection not in self._clients:
            number, rank = connection
            user = USERS[number] if self._logins and number < len(USERS) else None
            host, port = self._target.nodes[rank][1:] if user is None else self._logins[rank]
            client_id = self._bound.fill(self._sequence.client_id)
            client = self._clients[connection] = Client(host, port, client_id, TIMEOUT_S)
            if user is not None:
                log_in(client, self._bound.fill(user))
        return self._clients[connection]

    def _restart(self, step: Step) -> Any:
        """Stops or starts a broker; nothing if that was done already."""
        rank = self._rank(step)
        node, _, _ = self._target.nodes[rank]
        assert self._brokers is not None
        if step.api != START and node not in self._down:
            self._down.add(node)
            self._settling.stopped(node)
            for connection in [each for each in self._clients if each[1] == rank]:
                self._clients.pop(connection).close()
            if step.api == KILL:
                self._brokers.kill_broker(node)
            else:
                self._brokers.stop_broker(node)
        elif step.api == START and node in self._down:
            self._start({node})
            self._settling.started(node)
        return {"settled": self._settling.settle(step, None, step.fields, None)}

    def _coordinate_first(self) -> None:
        """A sequence begins where the first broker coordinates."""
        if len(self._target.nodes) > 1:
            for topic in self._coordinators:
                moved = self._settling.led(topic, self._target.nodes[0][0])
                assert moved, f"{topic} does not move: {self._settling.coordinators_told()}"

    def _move(self, step: Step) -> Any:
        """Nothing if the broker is down."""
        node, _, _ = self._target.nodes[self._rank(step)]
        moved = node in self._down or self._settling.move(step.fields["topic"], node)
        return {"settled": moved and self._settling.settled(step, step.fields, None)}

    def _beside(self, step: Step) -> Any:
        """Closes a connection, if it is open, or waits."""
        rank = self._bound.shares.rank = self._rank(step)
        if step.api == DISCONNECT and (client := self._clients.pop((step.client, rank), None)) is not None:
            client.close()
        return {"settled": self._settling.settle(step, None, step.fields, None)}

    def _start(self, nodes: set[int]) -> None:
        for node in sorted(nodes):
            assert self._brokers is not None
            self._brokers.start_broker(node)
            _, host, port = next(each for each in self._target.nodes if each[0] == node)
            await_producer_ids(host, port)
        self._down -= nodes

    def _ask(self, number: int, step: Step) -> Any:
        connection = step.client, self._rank(step)
        client = self._client(connection)
        self._bound.shares.rank = connection[1]
        node = self._target.nodes[connection[1]][0]
        fields = self._settling.sharing.prepared(step, self._bound.fill(step.fields), node)
        body = encode(step.api, step.version, fields)
        _, header = client.header(key_of(step.api), step.version, flexible(step.api, step.version))
        frame = mutate(header + body, step.mutations)
        silent = step.api == "produce" and fields.get("acks") == 0
        if fields.get("duration_filter") == 0:
            time.sleep(_A_MOMENT_S)
        waits = step.api in SLOW or bool(step.mutations) or (step.api == "produce" and _null_records(fields))
        try:
            if step.api == "fetch":
                # Wherever it is sent: partitions of its session may be followed there.
                self._settling.caught_up()
            client.set_timeout(_WAIT_S if waits and number not in self._answered else TIMEOUT_S)
            client.send_frame(frame)
            if silent and not step.mutations:
                answer = self._silence(client)
            else:
                answer = self._answer((number, False), client, step, frame)
        except (DisconnectedError, ConnectionRefusedError):
            # No broker that is stopped can be reached.
            answer = CLOSED
        except TimeoutError:
            self._late.append((number, step, self._clients.pop(connection)))
            return NO_ANSWER
        self._bound.learn(step, fields, answer)
        settled = self._settling.settle(step, _sent(frame), fields, answer)
        settled = settled and granting.settle(client, step, fields, answer)
        return answer if settled else {"answer": answer, "settled": False}

    def _silence(self, client: Client) -> str:
        """Asks something else: its answer shows that there was none before it."""
        pending = client.send("api_versions", 0, {})
        client.receive(pending)
        return NO_ANSWER

    def _read(self, key: Key, client: Client) -> bytes:
        """TimeoutError if there is no answer, neither here nor at the other cluster."""

        def wait_on() -> bytes:
            client.set_timeout(TIMEOUT_S)
            return client.read_frame()

        return self._together.awaited(self._rank_among, key, client.read_frame, wait_on)

    def _answer(self, key: Key, client: Client, step: Step, frame: bytes) -> Any:
        answer = self._read(key, client)
        if step.mutations:
            return _decoded_by_header(frame, answer)
        return _readable(step.api, step.version, answer)

    def _late_answers(self) -> list[Any]:
        found = []
        for number, step, client in self._late:
            client.set_timeout(TIMEOUT_S if number in self._answered_late else _WAIT_S)
            try:
                frame = self._read((number, True), client)
                found.append([number, self._normalised(_readable(step.api, step.version, frame), step)])
            except TimeoutError:
                found.append([number, NO_ANSWER])
            except DisconnectedError:
                found.append([number, CLOSED])
        return found

    # -- what can be compared

    def _normalised(self, answer: Any, step: Step) -> Any:
        for producer, _ in self._bound.producers.values():
            self._normaliser.name_producer(producer)
        for member in self._bound.members.values():
            self._normaliser.name_member(member)
        if not step.mutations:
            nodes = [node for node, _, _ in self._target.nodes]
            answer = without_passing(answer, step.api, self._bound, nodes)
        # What is no Fetch any more since its API key was changed is not in order either.
        changed = any(each[:2] == ("set", 1) for each in step.mutations)
        answer = self._normaliser.answer(self._own(answer), "" if changed else step.api)
        if step.api in ("describe_transactions", "describe_producers", "elect_leaders"):
            answer = unordered(answer)
        if step.api in ("share_group_heartbeat", "share_group_describe"):
            answer = of_members(answer, counted=self._bound.shares.several)
        if step.api == "consumer_group_describe":
            answer = of_members(answer, counted=False)
        if step.api == "streams_group_heartbeat" and isinstance(answer, dict):
            answer = with_missing_in_order(of_endpoints(answer))
        return with_lists_in_order(self._texts(answer), step.api)

    def _own(self, answer: Any) -> Any:
        """Without the groups, transactions and topics of other sequences in lists of all."""
        if not isinstance(answer, dict):
            return answer
        for key, name in (
            ("groups", "group_id"),
            ("transaction_states", "transactional_id"),
            ("topics", "name"),
            ("config_resources", "resource_name"),
            ("replica_election_results", "topic"),
        ):
            listed = answer.get(key)
            if isinstance(listed, list) and len(listed) and isinstance(listed[0], dict) and name in listed[0]:
                answer = {**answer, key: [each for each in listed if self._is_own(each[name])]}
        return answer

    def _is_own(self, name: str | None) -> bool:
        return name is None or name.startswith("__") or name.isdigit() or self._suffix in name

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


def _answered(recorded: list[Any] | None) -> tuple[set[int], set[int]]:
    """Numbers of steps that were answered at once, and of those that were answered late."""
    if recorded is None:
        return set(), set()
    *answers, late = recorded
    at_once = {number for number, each in enumerate(answers) if _alone(each) != NO_ANSWER}
    return at_once, {number for number, each in late if each != NO_ANSWER}


def _alone(answer: Any) -> Any:
    """Without what was seen aside."""
    while isinstance(answer, dict) and "answer" in answer:
        answer = answer["answer"]
    return answer


def _sent(frame: bytes) -> str | None:
    """The API in a request's header."""
    return api_keys().get(struct.unpack_from(">h", frame)[0]) if len(frame) >= 2 else None


def _null_records(fields: dict[str, Any]) -> bool:
    return any(part["records"] is None for topic in fields["topic_data"] for part in topic["partition_data"])


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
