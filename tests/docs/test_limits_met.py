"""What the page on limits says that a client sees: a client goes to limits of requests, and beyond.

Larger ones are met in tests/apis, tests/protocol and tests/server.
"""

import hashlib
import struct
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from mockbroker import MockCluster
from mockbroker.rig.batches import GZIP, batch, records
from mockbroker.rig.client import Client, DisconnectedError

from .test_limits import rows

CONFIG: Final = {
    "group.consumer.max.size": "1",
    "group.max.size": "1",
    "max.incremental.fetch.session.cache.slots": "1",
    "max.request.partition.size.limit": "2",
    "message.max.bytes": "20000",
    "mockbroker.max.decompressed.bytes": "4000000",
    "mockbroker.max.response.bytes": "100000",
    "telemetry.max.bytes": "1000",
}
"""Lower limits are met sooner; those that can't be set are met as they are."""
Meeting = Callable[[Client], None]
MET: Final[dict[str, Meeting]] = {}


def met(what: str) -> Callable[[Meeting], Meeting]:
    def register(meeting: Meeting) -> Meeting:
        MET[what] = meeting
        return meeting

    return register


@met("bytes of a request")
def _(client: Client) -> None:
    client.send_bytes(struct.pack(">i", (100 << 20) + 1))
    closed(client)


@met("entries in the arrays of a request, all together")
def _(client: Client) -> None:
    client.call("delete_groups", 0, {"groups_names": ["g"] * 1000})
    client.send_frame(client.header(42, 0, False)[1] + struct.pack(">i", 100_001) + b"\0\1g" * 100_001)
    closed(client)


@met("unknown tagged fields in a request's header, or in one place of a Produce")
def _(client: Client) -> None:
    tags = b"".join(bytes([number, 0]) for number in range(17))
    header = client.header(18, 3, False)[1]
    client.send_frame(header + b"\x10" + tags[:32] + b"\2x\2y\0")
    client.read_frame()
    client.send_frame(header + b"\x11" + tags + b"\2x\2y\0")
    closed(client)


@met("bytes of a text")
def _(client: Client) -> None:
    long = 32_767
    assert code(client.call("find_coordinator", 3, {"key": "k" * long, "key_type": 0})) == "NONE"
    # A compact string has its length and one more in front, seven bits a byte.
    key = b"\x81\x80\x02" + b"k" * 32_768
    client.send_frame(client.header(10, 3, True)[1] + key + b"\0\0")
    closed(client)


@met("bytes of an answer, records not counted")
def _(client: Client) -> None:
    client.send("describe_configs", 1, {"resources": [{"resource_type": 4, "resource_name": "1"}] * 100})
    closed(client)


@met("bytes as which an entry of an answer counts while it is made")
def _(client: Client) -> None:
    # Some 20 bytes each: fewer than the answer may have.
    assert committed(client, [""] * 6) == {"NONE"}
    group = {"group_id": "g", "topics": None}
    client.call("offset_fetch", 8, {"groups": [group] * 100, "require_stable": False})
    client.send("offset_fetch", 8, {"groups": [group] * 200, "require_stable": False})
    closed(client)


@met("partitions in one answer of DescribeTopicPartitions")
def _(client: Client) -> None:
    asked: dict[str, Any] = {"topics": [{"name": "t"}], "response_partition_limit": 100, "cursor": None}
    answer = client.call("describe_topic_partitions", 0, asked)
    assert [each["partition_index"] for each in answer["topics"][0]["partitions"]] == [0, 1]
    answer = client.call("describe_topic_partitions", 0, {**asked, "cursor": answer["next_cursor"]})
    assert [each["partition_index"] for each in answer["topics"][0]["partitions"]] == [2]


@met("bytes of a batch")
def _(client: Client) -> None:
    assert produced(client, batch(records(1, size=10_000)))[0] == "NONE"
    assert produced(client, batch(records(1, size=20_001)))[0] == "MESSAGE_TOO_LARGE"


@met("bytes that a batch decompresses to")
def _(client: Client) -> None:
    assert produced(client, batch(records(1, size=3_900_000), codec=GZIP))[0] == "NONE"
    refused = produced(client, batch(records(1, size=4_100_000), codec=GZIP))
    assert refused[0] == "INVALID_RECORD"
    assert "mockbroker.max.decompressed.bytes" in refused[1]


@met("letters of a topic's name")
def _(client: Client) -> None:
    assert created(client, "n" * 249) == "NONE"
    assert created(client, "n" * 250) == "INVALID_TOPIC_EXCEPTION"


@met("partitions and other changes of one CreateTopics or CreatePartitions")
def _(client: Client) -> None:
    assert created(client, "many", 10_000) == "POLICY_VIOLATION"


@met("fetch sessions of a broker")
def _(client: Client) -> None:
    assert fetched(client)["session_id"]
    assert fetched(client)["session_id"] == 0


@met("members of a classic group")
def _(client: Client) -> None:
    protocols = [{"name": "range", "metadata": b""}]
    asked = {"group_id": "classic", "session_timeout": 10_000, "protocol_type": "consumer"}
    asked |= {"member_id": "", "protocols": protocols}
    assert code(client.call("join_group", 0, asked)) == "NONE"
    assert code(client.call("join_group", 0, asked)) == "GROUP_MAX_SIZE_REACHED"


@met("members of a consumer group")
def _(client: Client) -> None:
    asked = {"group_id": "consumer", "member_epoch": 0, "instance_id": None, "rack_id": None}
    asked |= {"rebalance_timeout": 1000, "subscribed_topic_names": ["t"], "topic_partitions": []}
    asked |= {"subscribed_topic_regex": None, "server_assignor": None}
    for expected in ("NONE", "GROUP_MAX_SIZE_REACHED"):
        asked["member_id"] = uuid.uuid4().hex
        assert code(client.call("consumer_group_heartbeat", 1, asked)) == expected


@met("ms of a session timeout")
def _(client: Client) -> None:
    asked = {"group_id": "patient", "session_timeout": 1_800_001, "protocol_type": "consumer"}
    asked |= {"member_id": "", "protocols": [{"name": "range", "metadata": b""}]}
    assert code(client.call("join_group", 0, asked)) == "INVALID_SESSION_TIMEOUT"


@met("bytes of all offsets of a commit")
def _(client: Client) -> None:
    assert committed(client, ["m" * 4096] * 3) == {"NONE"}
    assert committed(client, ["m" * 4096] * 6) == {"UNKNOWN_SERVER_ERROR"}


@met("letters of an offset's metadata")
def _(client: Client) -> None:
    assert committed(client, ["m" * 4097]) == {"OFFSET_METADATA_TOO_LARGE"}


@met("ms of a transaction")
def _(client: Client) -> None:
    asked = {"transactional_id": "tx", "transaction_timeout": 900_001}
    assert code(client.call("init_producer_id", 1, asked)) == "INVALID_TRANSACTION_TIMEOUT"


@met("iterations of a SCRAM credential")
def _(client: Client) -> None:
    salted = hashlib.sha256(b"secret").digest()
    for iterations, expected in ((16_384, "NONE"), (16_385, "UNACCEPTABLE_CREDENTIAL")):
        added = {"name": "alice", "mechanism": 1, "iterations": iterations}
        added |= {"salt": b"salt", "salted_password": salted}
        asked = {"deletions": [], "upsertions": [added]}
        [result] = client.call("alter_user_scram_credentials", 0, asked)["results"]
        assert code(result) == expected


@met("bytes of pushed metrics")
def _(client: Client) -> None:
    mine = {"client_instance_id": uuid.UUID(int=0)}
    told = client.call("get_telemetry_subscriptions", 0, mine)
    asked = {"client_instance_id": told["client_instance_id"], "subscription_id": told["subscription_id"]}
    asked |= {"terminating": False, "compression_type": 0, "metrics": b"m" * 1001}
    assert code(client.call("push_telemetry", 0, asked)) == "TELEMETRY_TOO_LARGE"


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    with MockCluster(brokers=1, config=CONFIG, topics={"t": 3, "wide": 6}) as cluster:
        yield cluster


@pytest.mark.parametrize("what", MET)
def test_a_client_sees_what_the_page_says(cluster: MockCluster, what: str) -> None:
    assert what in {row.what for row in rows()}
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    with Client(host, int(port)) as client:
        MET[what](client)
    with Client(host, int(port)) as another:
        assert code(another.call("metadata", 1, {"topics": []})) == "NONE"


def closed(client: Client) -> None:
    with pytest.raises(DisconnectedError):
        client.read_frame()


def code(answer: dict[str, Any]) -> str:
    return str(answer.get("error_code", "NONE"))


def produced(client: Client, data: bytes) -> tuple[str, str]:
    """The error and its message."""
    topic = {"name": "t", "partition_data": [{"index": 0, "records": data}]}
    answer = client.call("produce", 8, {"acks": 1, "timeout": 1000, "topic_data": [topic]})
    [partition] = answer["responses"][0]["partition_responses"]
    return code(partition), partition["error_message"] or ""


def created(client: Client, name: str, partitions: int = 1) -> str:
    topic: dict[str, Any] = {"name": name, "num_partitions": partitions, "replication_factor": 1}
    topic |= {"assignments": [], "configs": []}
    [result] = client.call("create_topics", 5, {"topics": [topic], "timeout": 1000})["topics"]
    return code(result)


def fetched(client: Client) -> dict[str, Any]:
    """The answer to a Fetch that begins a session."""
    asked = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1}]
    request: dict[str, Any] = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "session_epoch": 0}
    request |= {"topics": [{"topic": "t", "partitions": asked}], "forgotten_topics_data": []}
    return client.call("fetch", 7, request)


def committed(client: Client, metadata: list[str]) -> set[str]:
    """The errors of a commit for as many partitions."""
    partitions = [
        {"partition_index": index, "committed_offset": 1, "committed_metadata": each}
        for index, each in enumerate(metadata)
    ]
    asked = {"group_id": "g", "generation_id_or_member_epoch": -1, "member_id": ""}
    asked |= {"topics": [{"name": "wide", "partitions": partitions}]}
    answer = client.call("offset_commit", 2, asked)
    return {code(each) for topic in answer["topics"] for each in topic["partitions"]}
