"""A session, without sockets."""

import itertools
from functools import partial
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse, SupportedFeatureKey
from mockbroker.protocol.messages.common import NodeEndpoint
from mockbroker.protocol.messages.fetch import FetchResponse
from mockbroker.protocol.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from mockbroker.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker
from mockbroker.protocol.messages.produce import ProduceResponse

from ..properties import examples
from .between import LISTENER, Between, large, request, taken

NODE = NodeEndpoint(1, "theirs", 9092)
LOCAL = NodeEndpoint(1, *LISTENER)


def produce(acks: int, correlation_id: int) -> bytes:
    fields: dict[str, Any] = {"transactional_id": None, "acks": acks, "timeout": 1000, "topic_data": []}
    return request("produce", 9, correlation_id, **fields)


def test_brokers_are_at_the_listeners_of_the_proxy() -> None:
    between = Between()
    between.ask("metadata", 9, topics=[])
    brokers = [MetadataResponseBroker(1, "theirs", 9092), MetadataResponseBroker(2, "others", 9092)]
    found = between.answer(ApiKey.METADATA, 9, MetadataResponse(brokers=brokers))
    assert [(each.host, each.port) for each in found.brokers] == [LISTENER, ("127.0.0.1", 19093)]
    assert between.upstream.brokers[2].address == ("others", 9092)


def test_coordinators_of_every_version_are_at_the_listeners() -> None:
    for version in range(7):
        between = Between()
        keys = {"coordinator_keys": ["g"]} if version >= 4 else {"key": "g"}
        between.ask("find_coordinator", version, **keys)
        coordinator = Coordinator("g", 1, "theirs", 9092)
        found = between.answer(
            ApiKey.FIND_COORDINATOR, version, FindCoordinatorResponse(coordinators=[coordinator])
        )
        assert [(each.host, each.port) for each in found.coordinators] == [LISTENER]


def test_a_coordinator_that_is_nowhere_stays_nowhere() -> None:
    between = Between()
    between.ask("find_coordinator", 4, coordinator_keys=["g"])
    nowhere = FindCoordinatorResponse(coordinators=[Coordinator("g", -1, "", -1, 15)])
    assert between.answer(ApiKey.FIND_COORDINATOR, 4, nowhere) == nowhere


def test_new_leaders_are_at_the_listeners() -> None:
    between = Between()
    between.ask("fetch", 16)
    found = between.answer(ApiKey.FETCH, 16, FetchResponse(node_endpoints=[NODE]))
    assert list(found.node_endpoints) == [LOCAL]
    produced: dict[str, Any] = {"transactional_id": None, "acks": -1, "timeout": 1000, "topic_data": []}
    between.ask("produce", 10, 8, **produced)
    answer = ProduceResponse(node_endpoints=[NODE])
    assert list(between.answer(ApiKey.PRODUCE, 10, answer, 8).node_endpoints) == [LOCAL]


def test_versions_that_the_proxy_can_not_read_are_not_advertised() -> None:
    between = Between()
    between.ask("api_versions", 3, client_software_name="c", client_software_version="1")
    low, high = CODEC_VERSIONS[ApiKey.METADATA]
    features = [SupportedFeatureKey("metadata.version", 1, 99)]
    given = ApiVersionsResponse(
        api_keys=[ApiVersion(3, 0, 99), ApiVersion(999, 0, 1)], supported_features=features
    )
    found = between.answer(ApiKey.API_VERSIONS, 3, given)
    assert found.api_keys == [ApiVersion(3, low, high)]
    assert found.supported_features == features


def test_what_it_can_not_read_passes_and_is_told() -> None:
    between = Between()
    between.ask("metadata", 9, topics=[])
    unreadable = bytes([0, 0, 0, 6, 0, 0, 0, 7, 0, 0])
    between.session.from_broker(unreadable)
    assert taken(between.session.to_client) == unreadable
    (line,) = between.said
    assert "METADATA v9" in line


def test_a_request_that_it_can_not_read_passes_and_is_told() -> None:
    between = Between({"do": "delay", "ms": 50, "api": "Metadata"})
    unreadable = request("metadata", 9, topics=[])[4:-3]
    between.session.from_client(len(unreadable).to_bytes(4) + unreadable)
    assert taken(between.session.to_broker)[4:] == unreadable
    (line,) = between.said
    assert line.startswith("a request of c was passed on as it is: METADATA v9")


def test_a_produce_without_an_answer_is_not_waited_for() -> None:
    between = Between()
    for version in (0, 3, 9):
        fields: dict[str, Any] = {"transactional_id": None} if version >= 3 else {}
        sent = request("produce", version, acks=0, timeout=1000, topic_data=[], **fields)
        between.session.from_client(sent)
        assert taken(between.session.to_broker) == sent
    between.ask("metadata", 9, topics=[])
    between.answer(ApiKey.METADATA, 9, MetadataResponse())
    assert not between.session.wants_close


def test_an_answer_to_nothing_ends_the_connection() -> None:
    between = Between()
    between.session.from_broker(bytes([0, 0, 0, 4, 0, 0, 0, 7]))
    assert between.session.wants_close
    assert between.said == ["broker 1: it sent what no request asked for"]


def test_a_request_with_a_fault_waits_for_those_before_it_and_lets_none_pass() -> None:
    between = Between({"do": "error", "error": "COORDINATOR_LOAD_IN_PROGRESS", "api": "FindCoordinator"})
    assert between.ask("metadata", 9, 1, topics=[])
    assert not between.ask("find_coordinator", 4, 2, coordinator_keys=["g"])
    assert not between.ask("metadata", 9, 3, topics=[])
    between.answer(ApiKey.METADATA, 9, MetadataResponse(), 1)
    assert taken(between.session.to_broker) == request("find_coordinator", 4, 2, coordinator_keys=["g"])
    found = between.answer(
        ApiKey.FIND_COORDINATOR,
        4,
        FindCoordinatorResponse(coordinators=[Coordinator("g", 1, "theirs", 9092)]),
        2,
    )
    assert [each.error_code for each in found.coordinators] == [14]
    assert taken(between.session.to_broker) == request("metadata", 9, 3, topics=[])
    assert [each.hits for each in between.faults] == [1]


def test_nothing_is_taken_of_a_connection_that_has_ended() -> None:
    between = Between({"do": "disconnect", "api": "FindCoordinator", "times": 2})
    sent = request("find_coordinator", 4, 1, coordinator_keys=["g"])
    between.session.from_client(sent + request("metadata", 9, 3, topics=[]) + sent)
    assert between.session.wants_close
    assert not between.session.to_broker.size
    assert [each.hits for each in between.faults] == [1]


def test_a_late_answer_comes_when_it_is_due() -> None:
    between = Between({"do": "delay", "ms": 50, "api": "Metadata", "when": "after"})
    between.ask("metadata", 9, topics=[])
    between.session.from_broker(answer_codec(ApiKey.METADATA, 9).encode(7, MetadataResponse()))
    between.upstream.environment.advance(49)
    assert not between.session.to_client.size
    between.upstream.environment.advance(50)
    assert between.session.to_client.size


def test_what_has_come_of_an_answer_need_not_wait_for_the_rest() -> None:
    between = Between()
    between.session.from_client(produce(-1, 7) + produce(-1, 8))
    first, second = (answer_codec(ApiKey.PRODUCE, 9).encode(each, ProduceResponse()) for each in (7, 8))
    between.session.from_broker(first[:9])
    assert taken(between.session.to_client) == first[:9]
    between.session.from_broker(first[9:] + second[:7])
    assert taken(between.session.to_client) == first[9:]
    between.session.from_broker(second[7:])
    assert taken(between.session.to_client) == second


def test_a_frame_that_is_too_large_ends_the_connection() -> None:
    between = Between()
    between.session.from_client(b"GET / HTTP/1.1\r\n")
    assert between.session.wants_close
    assert not between.session.to_broker.size


def test_a_fault_does_nothing_to_a_request_that_had_begun_to_pass() -> None:
    between, sent = Between(), large(20_000, 7)
    between.session.from_client(sent[:9000])
    between.faults.append(between.upstream.faults.add(do="disconnect", api="Produce"))
    between.session.from_client(sent[9000:])
    assert taken(between.session.to_broker) == sent
    answer = answer_codec(ApiKey.PRODUCE, 9).encode(7, ProduceResponse())
    between.session.from_broker(answer)
    assert taken(between.session.to_client) == answer
    between.session.from_client(sent)
    assert not between.session.to_broker.size
    assert between.session.wants_close
    assert [each.hits for each in between.faults] == [1]


def test_a_long_name_before_what_has_to_be_known_makes_no_difference() -> None:
    for acks in (0, -1):
        between, sent = Between(), large(20_000, 7, acks, client="c" * 9000)
        between.session.from_client(sent[:10_000])
        between.session.from_client(sent[10_000:])
        assert taken(between.session.to_broker) == sent
        between.ask("metadata", 9, 8, topics=[])
        if acks:
            between.session.from_broker(answer_codec(ApiKey.PRODUCE, 9).encode(7, ProduceResponse()))
        between.session.from_broker(answer_codec(ApiKey.METADATA, 9).encode(8, MetadataResponse()))
        assert not between.session.wants_close
        assert not between.said


class Broker:
    """Answers each Metadata and each Produce that has come as a whole, and may be late with it."""

    def __init__(self) -> None:
        self.came = bytearray()
        self.answers = bytearray()
        self._seen = 0

    def take(self, data: bytes) -> None:
        self.came += data
        while (frame := bytes(self.came[self._seen :])) and len(frame) >= 4 + int.from_bytes(frame[:4]):
            key, correlation_id = ApiKey(frame[5]), int.from_bytes(frame[8:12])
            answer = MetadataResponse() if key is ApiKey.METADATA else ProduceResponse()
            if key is ApiKey.METADATA or frame[17:19] != b"\0\0":
                self.answers += answer_codec(key, 9).encode(correlation_id, answer)
            self._seen += 4 + int.from_bytes(frame[:4])


REQUESTS: Final = st.sampled_from(
    [
        *(partial(large, size, acks=acks) for size in (0, 4000, 4300, 30_000) for acks in (0, -1)),
        partial(request, "metadata", 9, topics=[]),
    ]
)


@given(st.data())
@settings(max_examples=examples(200))
def test_it_makes_no_difference_how_bytes_are_cut(data: st.DataObject) -> None:
    """Of requests and of answers; faults have some for themselves."""
    chosen = data.draw(st.lists(REQUESTS, min_size=1, max_size=8))
    requests = b"".join(make(correlation_id=index) for index, make in enumerate(chosen))
    between = Between(*[{"do": "watch", "api": "Metadata"}] * data.draw(st.integers(0, 1)))
    session, broker, passed, answered = between.session, Broker(), bytearray(), 0
    ends = list(itertools.accumulate(len(make(correlation_id=0)) for make in chosen))
    cut = st.sampled_from(ends) | st.integers(0, len(requests))
    cuts = data.draw(st.lists(cut, max_size=12).map(sorted))
    for start, end in zip([0, *cuts], [*cuts, len(requests)], strict=True):
        part = requests[start:end]
        if session.passes_request(part):
            sent = data.draw(st.integers(0, len(part)))
            broker.take(part[:sent])
            assert session.request_passed(part, sent) == (sent == len(part))
        else:
            session.from_client(part)
        broker.take(taken(session.to_broker))
        size = data.draw(st.integers(0, len(broker.answers) - answered))
        part = bytes(broker.answers[answered : answered + size])
        if session.passes_answer(part):
            sent = data.draw(st.integers(0, len(part)))
            passed += part[:sent]
            assert session.answer_passed(part, sent) == (sent == len(part))
        else:
            session.from_broker(part)
        answered += size
        passed += taken(session.to_client)
        broker.take(taken(session.to_broker))
    while answered < len(broker.answers):
        session.from_broker(bytes(broker.answers[answered:]))
        answered = len(broker.answers)
        passed += taken(session.to_client)
        broker.take(taken(session.to_broker))
    assert broker.came == requests
    assert passed == broker.answers
    metadata = sum(make.func is request for make in chosen)
    assert [each.hits for each in between.faults] == [metadata] * len(between.faults)
    assert not between.said
