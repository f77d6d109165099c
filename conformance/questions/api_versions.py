"""ApiVersions: KIP-35, KIP-511 (client software), KIP-584 (features); and requests nobody understands."""

import struct
from typing import Any

from ...rig.client import Client, decode
from ...rig.scene import CLOSED
from ..registry import Scene, Steps, question

SOFTWARE = {
    "plain": ("mockbroker", "1.0"),
    "dots and dashes": ("apache-kafka-java", "3.9.2-SNAPSHOT"),
    "empty name": ("", "1.0"),
    "empty version": ("mockbroker", ""),
    "space": ("mock broker", "1.0"),
    "leading dash": ("-mockbroker", "1.0"),
    "trailing dot": ("mockbroker", "1.0."),
    "one character": ("m", "1"),
    "underscore": ("mock_broker", "1.0"),
    "umlaut": ("möck", "1.0"),
    "long": ("m" * 300, "1.0"),
}


def _unsupported(answer: bytes | str) -> Any:
    """An answer in v0, which brokers give to versions they don't know."""
    return answer if isinstance(answer, str) else decode("api_versions", 0, b"\0\0\0\0" + answer)


def _body(name: str = "mockbroker", version: str = "1") -> bytes:
    def compact(text: str) -> bytes:
        return bytes([len(text) + 1]) + text.encode()

    return compact(name) + compact(version) + b"\0"


def versions(s: Scene) -> Steps:
    """The ranges of every API."""
    answer = s.ask(client_software_name="mockbroker", client_software_version="1")
    for each in sorted(answer["api_keys"], key=lambda each: int(each["api_key"])):
        yield f"api key {each['api_key']}", [each["min_version"], each["max_version"]]


def besides_versions(s: Scene) -> Steps:
    """Error, throttle time and, from v3 on, features (KIP-584)."""
    answer = s.ask(client_software_name="mockbroker", client_software_version="1")
    answer["api_keys"] = sorted(each["api_key"] for each in answer["api_keys"])
    # The epoch grows with every change of the cluster's metadata.
    if "finalized_features_epoch" in answer:
        answer["finalized_features_epoch"] = "<epoch>" if answer["finalized_features_epoch"] >= 0 else -1
    yield "all", answer


@question(since=3)
def client_software(s: Scene) -> Steps:
    """Names must match `[a-zA-Z0-9](?:[a-zA-Z0-9\\-.]*[a-zA-Z0-9])?` (KIP-511)."""
    for label, (name, version) in SOFTWARE.items():
        answer = s.ask(client_software_name=name, client_software_version=version, client=s.new_client())
        yield label, [answer["error_code"], len(answer["api_keys"]) > 0] if answer != CLOSED else CLOSED


def _addressed(s: Scene, cluster_id: str | None, node_id: int, client: Client | None = None) -> Any:
    software = {"client_software_name": "mockbroker", "client_software_version": "1"}
    client = client or s.new_client()
    answer = s.ask(software, cluster_id=cluster_id, node_id=node_id, client=client)
    return answer if answer == CLOSED else [answer["error_code"], len(answer["api_keys"]) > 0]


@question(since=5)
def addressed(s: Scene) -> Steps:
    """A client says whom it means to ask (KIP-1242)."""
    cluster, node = s.target.cluster_id, s.node(0)
    for label, (cluster_id, node_id) in {
        "right": (cluster, node),
        "nobody": (None, -1),
        "right cluster, no node": (cluster, -1),
        "no cluster, right node": (None, node),
        "wrong cluster": ("another", node),
        "wrong node": (cluster, 99),
        "both wrong": ("another", 99),
        "wrong cluster, no node": ("another", -1),
        "no cluster, wrong node": (None, 99),
        "empty cluster": ("", node),
        "empty cluster, no node": ("", -1),
        "negative node": (cluster, -2),
        "wrong cluster, negative node": ("another", -2),
    }.items():
        yield label, _addressed(s, cluster_id, node_id)
    client = s.new_client()
    yield "refused", _addressed(s, cluster, 99, client)
    yield "then right on the same connection", _addressed(s, cluster, node, client)
    wrong = s.ask(client_software_name="", client_software_version="1", cluster_id="another", node_id=1)
    yield "wrong, and no name of the client", [wrong["error_code"], len(wrong["api_keys"])]
    refused = s.ask(client_software_name="m", client_software_version="1", cluster_id=cluster, node_id=99)
    yield (
        "all of the answer",
        {**refused, "finalized_features_epoch": refused["finalized_features_epoch"] >= 0},
    )


@question(newest_only=True, brokers=3)
def another_broker_addressed(s: Scene) -> Steps:
    """Versions before 5 do not say who is meant."""
    for rank in range(3):
        yield f"broker {rank}", _addressed(s, s.target.cluster_id, s.node(rank))


@question(newest_only=True)
def unknown_versions(s: Scene) -> Steps:
    """Answered in v0 with UNSUPPORTED_VERSION and the range of ApiVersions itself."""
    for version in (6, 99, 32767):
        yield f"v{version}", _unsupported(s.raw(18, version, _body(), flexible=True))
    yield "v6 with a body of v0", _unsupported(s.raw(18, 6, b""))
    yield "v-1", _unsupported(s.raw(18, -1, b""))


@question(newest_only=True)
def after_an_unknown_version(s: Scene) -> Steps:
    """The connection stays open, so a client can try again."""
    client = s.new_client()
    first = client.raw(18, 99, _body(), True)[4:]
    yield "v99", _unsupported(first)["error_code"]
    yield "then v0 on the same connection", s.call("api_versions", version=0, client=client)["error_code"]


@question(newest_only=True)
def requests_about_telemetry(s: Scene) -> Steps:
    """Without a plugin that takes clients' metrics they are not advertised, and yet answered."""
    for api, key, body in (("Get", 71, bytes(17)), ("Push", 72, bytes(22) + b"\1\0")):
        answer = s.raw(key, 0, body, flexible=True)
        yield api, answer if isinstance(answer, str) else answer[:7].hex()


@question(newest_only=True)
def unknown_requests(s: Scene) -> Steps:
    """Brokers close the connection."""
    yield "api key 9999", s.raw(9999, 0, b"")
    yield "api key -1", s.raw(-1, 0, b"")
    yield "Metadata v99", s.raw(3, 99, b"\0\0\0\0")
    yield "Metadata v-1", s.raw(3, -1, b"\0\0\0\0")
    yield "Fetch v99", s.raw(1, 99, b"")
    yield "ControlledShutdown v0", s.raw(7, 0, b"\0\0\0\1")
    yield "LeaderAndIsr v0", s.raw(4, 0, b"")
    yield "Vote v0, for controllers only", s.raw(52, 0, b"\0\0\0", flexible=True)


@question(newest_only=True)
def broken_requests(s: Scene) -> Steps:
    yield "Metadata v1 cut short", s.raw(3, 1, b"\0\0\0\1\0\5ab")
    yield "Metadata v1 without a body", s.raw(3, 1, b"")
    yield "Metadata v1 with bytes left over", s.raw(3, 1, b"\0\0\0\0" + b"left") != CLOSED
    yield "huge array", s.raw(3, 1, struct.pack(">i", 2**31 - 1))
    yield "negative string length", s.raw(3, 1, struct.pack(">ih", 1, -5))
    yield "name of bytes that are no UTF-8", s.raw(3, 1, b"\0\0\0\1\0\2\xff\xfe") != CLOSED


@question(newest_only=True)
def broken_frames(s: Scene) -> Steps:
    for label, data in {
        "negative size": struct.pack(">i", -1),
        "size above socket.request.max.bytes": struct.pack(">i", 104857601),
        "empty frame": struct.pack(">i", 0),
        "three bytes": struct.pack(">i", 3) + b"\0\3\0",
        "header without a client id": struct.pack(">ihhi", 8, 3, 1, 7),
    }.items():
        client = s.new_client()
        client.send_bytes(data)
        try:
            yield label, client.read_frame()
        except ConnectionError:
            yield label, CLOSED


@question(newest_only=True)
def client_ids(s: Scene) -> Steps:
    for label, client_id in {"null": None, "empty": "", "long": "c" * 5000, "umlaut": "ä"}.items():
        answer = s.call("api_versions", version=0, client=s.new_client(client_id))
        yield label, answer["error_code"]


@question(newest_only=True)
def produce_below_v3(s: Scene) -> Steps:
    """4.x advertises Produce from v0 (KAFKA-18659) though it takes v3 and up."""
    for version in (0, 1, 2):
        body = struct.pack(">hii", 1, 1000, 0)
        yield f"Produce v{version}, no topics", s.raw(0, version, body)


@question(newest_only=True)
def correlation_ids(s: Scene) -> Steps:
    """Answers keep the order of the requests of a connection and carry their correlation ids."""
    client = s.new_client()
    for correlation in (5, -1, 2**31 - 1, 5):
        client.send_frame(struct.pack(">hhih", 18, 0, correlation, -1))
    for _ in range(4):
        yield "next", list(struct.unpack_from(">ih", client.read_frame()))
