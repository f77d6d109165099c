"""Log messages of brokers and clients that somebody may not do something, or can't: no ACL allows it, a
login is refused, an address has no meaning or too many connections, a codec or a topic is missing, a quota is
used up, an answer is too large. None of it goes by itself.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from .log_entries import Entry
from .log_messages import END, Message, Table, Values, listed, message

UNRESOLVED: Final = "UnknownHost"
NO_CODEC: Final = "UnsupportedCodec"
TOO_LARGE: Final = "ResponseTooLarge"
"""How it is named that a client takes no response that is so large; its detail is the most that it takes."""
TOO_MANY: Final = "TooManyConnections"
NO_TOPIC: Final = "UNKNOWN_TOPIC_OR_PARTITION"
LOGIN: Final = "SASL_AUTHENTICATION_FAILED"
"""Of a client that is refused; that somebody is, whoever it was, is FAILED_LOGIN."""
FAILED_LOGIN: Final = "FailedAuthentication"
PASSWORD: Final = "password of "
"""How the detail of a row begins that says whose password was altered."""
THROTTLED: Final = "Throttled"
"""How it is named that a client has to wait, because of a quota; its detail is for how many ms."""
TIMED_OUT: Final = "RecordsTimedOut"
"""How it is named that a producer's records were not acknowledged in time."""
NOT_AUTHORIZED: Final = {
    "Group": "GROUP_AUTHORIZATION_FAILED",
    "Topic": "TOPIC_AUTHORIZATION_FAILED",
    "TransactionalId": "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
}
"""By Kafka's name of a type of resource (ResourceType)."""
ADVERTISES: Final = "advertises "
"""How the detail of a broker begins that says by which addresses clients reach it."""
_COLUMNS: Final = {"Group": "group", "Topic": "topic", "TransactionalId": "transactional_id"}
_RESOURCE: Final = {"GROUP": "Group", "TOPIC": "Topic", "TRANSACTIONAL_ID": "TransactionalId"}
_LOGGED_IN: Final = re.compile(r"^Authentication failed(?: during (?:re-)?authentication)?(?: due to|:)? ?")
_TOPICS: Final = re.compile(rf"(?<![\w.-])(?P<topic>[\w.-]{{1,249}})={NO_TOPIC}")
_PARTITIONS: Final = re.compile(r"\[[\d ]*\]")
_HOST: Final = r"(?P<detail>[\w.-]{1,253}):\d{1,5}"


def _no_topic(text: str, pattern: str) -> Message:
    return message(
        "complaint",
        text,
        pattern.replace("<topic>", r"(?P<topic>[\w.-]{1,249})"),
        lambda _, found: {"detail": found["topic"]},
        error=NO_TOPIC,
    )


def _of_java(found: re.Match[str]) -> Iterator[Values]:
    """Other topics may have other errors."""
    for each in _TOPICS.finditer(found.string, found.end()):
        yield {"topic": each["topic"], "detail": each["topic"]}


def _of_franz_go(found: re.Match[str]) -> Iterator[Values]:
    names = found.string[found.end() :].partition("}")[0]
    for topic in _PARTITIONS.sub("", names).split():
        yield {"topic": topic, "detail": topic}


def _denied(_: Entry, found: re.Match[str]) -> Values:
    kind = found["type"]
    asked = f"{found['principal']} was denied {found['operation']} from {found['host']}"
    return {"error": NOT_AUTHORIZED[kind], _COLUMNS[kind]: found["name"], "detail": asked}


def _acl(_: Entry, found: re.Match[str]) -> Values:
    did = "created" if found["did"] == "setting" else "removed"
    pattern = "" if found["pattern"] == "LITERAL" else f" ({found['pattern'].lower()})"
    what = f"{found['principal']} {found['permission'].lower()} {found['operation']} from {found['host']}"
    return {"detail": f"{did}: {what}{pattern}", _COLUMNS[_RESOURCE[found["type"]]]: found["name"]}


def _advertised(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{ADVERTISES}{found['listeners']}"}


def _login(entry: Entry, found: re.Match[str]) -> Values:
    """The reason, however a client or broker came to log in."""
    return {"detail": _LOGGED_IN.sub("", found["why"]).strip()[:200]}


def _password(did: str, _: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{PASSWORD}{found['user']} was {did} ({found['mechanism'].replace('_', '-')})"}


BROKER: Final = (
    # Selector
    message(
        "complaint",
        "Failed authentication with ",
        r"Failed authentication with \S{0,300} \([^)\n]{0,300}\) \((?P<why>[^()\n]{1,300})\)",
        _login,
        error=FAILED_LOGIN,
    ),
    message(
        "complaint",
        "Failed re-authentication with ",
        r"Failed re-authentication with \S{0,300} \([^)\n]{0,300}\) \((?P<why>[^()\n]{1,300})\)",
        _login,
        error=FAILED_LOGIN,
    ),
    # ScramControlManager
    *(
        message(
            "config",
            text,
            rf"{text} (?:(?:creating new|modifying existing) entry )?for (?P<user>[^\n]{{1,300}}?) with "
            r"mechanism (?P<mechanism>\w+)",
            partial(_password, did),
        )
        for text, did in (
            ("Replayed UserScramCredentialRecord", "set"),
            ("Replayed RemoveUserScramCredentialRecord", "removed"),
        )
    ),
    # AclAuthorizer up to 3.9, StandardAuthorizerData
    message(
        "refused",
        " is Denied operation = ",
        r"Principal = (?P<principal>\S+) is Denied operation = (?P<operation>\w+) from host = (?P<host>\S+) "
        rf"on resource = (?P<type>{'|'.join(NOT_AUTHORIZED)}):\w+:(?P<name>[^\n]{{1,300}}?) for request = "
        r"(?P<api>\w+)",
        _denied,
    ),
    # AclControlManager
    message(
        "acl",
        "AccessControlEntryRecord for ",
        r"AccessControlEntryRecord for \S+ (?P<did>setting|removing) StandardAcl\[resourceType="
        rf"(?P<type>{'|'.join(_RESOURCE)}), resourceName=(?P<name>[^\n]{{1,300}}?), patternType="
        r"(?P<pattern>\w+), principal=(?P<principal>\S+), host=(?P<host>\S+), operation=(?P<operation>\w+), "
        r"permissionType=(?P<permission>\w+)\]",
        _acl,
    ),
    # SocketServer
    message(
        "complaint",
        "address already has the configured maximum of",
        r"Rejected connection from \S{0,300}?/(?P<detail>[\w.:]+), address already has the configured "
        r"maximum of (?P<number>\d+) connections",
        lambda _, found: {"detail": f"{found['detail']} has {found['number']} connections"},
        error=TOO_MANY,
    ),
    # KafkaConfig
    message(
        "broker",
        "\tadvertised.listeners = ",
        r"\tadvertised\.listeners = \[?(?P<listeners>\w+://[^\]\n]{1,300})",
        _advertised,
    ),
)
LIBRDKAFKA: Final = (
    # rdkafka_broker.c
    message(
        "complaint",
        ": Failed to resolve '",
        rf"{_HOST}/{{broker}}: Failed to resolve '",
        error=UNRESOLVED,
    ),
    message(
        "complaint",
        "increase receive.message.max.bytes",
        r"Invalid response size \d{1,10} \(0\.\.(?P<detail>\d{1,10})\): increase receive\.message\.max",
        error=TOO_LARGE,
    ),
    message(
        "complaint",
        "Timed out ProduceRequest",
        r"Timed out ProduceRequest in flight \(after",
        error=TIMED_OUT,
    ),
)
TABLE: Final = Table.of(
    # NetworkClient
    message(
        "refused",
        "failed authentication due to: ",
        rf"Connection to node [^\n]{{1,300}}? failed authentication due to: (?P<why>[^\n]+?){END}",
        _login,
        error=LOGIN,
    ),
    # franz-go, consumer_group.go
    message(
        "refused",
        f"err: {LOGIN}: ",
        rf"group manage loop errored; group: (?P<group>[^\n,]{{1,300}}), err: {LOGIN}: [\w ]{{1,40}}\.: "
        r"(?P<why>[^\n,]{1,300})",
        _login,
        error=LOGIN,
    ),
    # KafkaJS, consumer/index.js
    message(
        "refused",
        "authentication failed: ",
        rf"Crash: KafkaJS\w{{1,60}}: SASL [\w ]{{1,40}} authentication failed: (?P<why>[^\n]+?){END}",
        _login,
        error=LOGIN,
    ),
    # GroupAuthorizationException, TopicAuthorizationException
    message(
        "refused",
        "Not authorized to access group: ",
        rf"Not authorized to access group: (?!Group authorization failed)(?P<group>[^\s]{{1,300}}?){END}",
        error=NOT_AUTHORIZED["Group"],
    ),
    message(
        "refused",
        "Not authorized to access topics: [",
        r"Not authorized to access topics: \[",
        several=listed("topic", r"\]"),
        error=NOT_AUTHORIZED["Topic"],
    ),
    # Fetcher, FetchCollector; kafka-python and aiokafka, consumer/fetcher.py
    message(
        "refused",
        "Not authorized to read from partition ",
        r"Not authorized to read from partition {tp}",
        api="Fetch",
        error=NOT_AUTHORIZED["Topic"],
    ),
    message(
        "refused",
        "Not authorized to read from topic ",
        r"Not authorized to read from topic (?P<topic>[\w.-]*\w)",
        api="Fetch",
        error=NOT_AUTHORIZED["Topic"],
    ),
    # NetworkClient
    message(
        "complaint",
        "Error connecting to node ",
        rf"Error connecting to node {_HOST} \(id: {{broker}}[^\n]{{0,200}}\n[^\n]{{0,100}}?"
        r"UnknownHostException: ",
        error=UNRESOLVED,
    ),
    message(
        "complaint",
        " is throttled for ",
        r"Connection to node {broker} is throttled for (?P<detail>\d+) ms until timestamp ",
        error=THROTTLED,
    ),
    # franz-go, broker.go
    message(
        "complaint",
        "unable to open connection to broker; addr: ",
        rf"unable to open connection to broker; addr: {_HOST}, broker: {{broker}}, err: "
        r"[^\n]{0,200}?no such host",
        error=UNRESOLVED,
    ),
    # KafkaJS, network/connection.js, of Node.js
    message(
        "complaint",
        "getaddrinfo ENOTFOUND ",
        r"getaddrinfo ENOTFOUND (?P<detail>[\w.-]{1,253})",
        error=UNRESOLVED,
    ),
    # kafka-python, net/inet.py
    message("complaint", "DNS lookup failed for ", rf"DNS lookup failed for {_HOST}", error=UNRESOLVED),
    # KafkaJS, protocol/message/compression/index.js
    message(
        "complaint",
        " compression not implemented",
        r"KafkaJSNotImplemented: (?P<detail>\w+) compression not implemented",
        error=NO_CODEC,
    ),
    # kafka-python and aiokafka, record/default_records.py
    message(
        "complaint",
        " compression codec not found",
        r"UnsupportedCodecError: Libraries for (?P<detail>\w+) compression codec not found",
        error=NO_CODEC,
    ),
    # NetworkClient
    message(
        "complaint",
        "=UNKNOWN_TOPIC_OR_PARTITION",
        r"with correlation id \d{1,10} : \{",
        several=_of_java,
        error=NO_TOPIC,
    ),
    # franz-go, metadata.go, sink.go
    message(
        "complaint",
        "UNKNOWN_TOPIC_OR_PARTITION{",
        r"inner errors: [^\n]*?UNKNOWN_TOPIC_OR_PARTITION\{",
        several=_of_franz_go,
        error=NO_TOPIC,
    ),
    _no_topic(
        "err: UNKNOWN_TOPIC_OR_PARTITION",
        r"topic: <topic>, partition: \d{1,10}, err: UNKNOWN_TOPIC_OR_PARTITION",
    ),
    # librdkafka, as confluent-kafka gives it
    _no_topic("Subscribed topic not available: ", r"Subscribed topic not available: <topic>: "),
    # kafka-python and aiokafka, cluster.py
    _no_topic(" not found in cluster metadata", r"Topic <topic> not found in cluster metadata"),
)
