"""What brokers and clients log of logins that are refused, and of timeouts that brokers don't allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import analyze

from .reading import of_kind, rows

NAMES = {"complaint": "server.log", "config": "controller.log", "refused": "client.log"}

REASON = "invalid credentials with SASL mechanism SCRAM-SHA-512"
AT = "[2026-11-30 03:58:13,534] "
BROKER = (
    f"{AT}INFO [SocketServer listenerType=BROKER, nodeId=1] Failed authentication with /127.0.0.1 "
    f"(channelId=127.0.0.1:22180-127.0.0.1:59920-3-51) (Authentication failed during authentication due "
    f"to {REASON}) (org.apache.kafka.common.network.Selector)\n"
)
JAVA = (
    "2026-11-30 03:58:13,536 [billing-1] ERROR org.apache.kafka.clients.NetworkClient - [Consumer "
    "clientId=billing-1, groupId=billing] Connection to node 1 (localhost/127.0.0.1:22180) failed "
    f"authentication due to: Authentication failed during re-authentication due to {REASON}\n"
)
FRANZ_GO = (
    "2026-11-30T03:58:15.166Z [ERROR] group manage loop errored; group: shipping, err: "
    "SASL_AUTHENTICATION_FAILED: SASL Authentication failed.: Authentication failed during authentication "
    f"due to {REASON}, consecutive_errors: 1, backoff: 253.053894ms\n"
)
KAFKAJS = (
    '{"level":"ERROR","timestamp":"2026-11-30T04:09:58.923Z","logger":"kafkajs","message":"[Consumer] Crash: '
    "KafkaJSNonRetriableError: SASL SCRAM SHA512 authentication failed: Authentication failed during "
    f'authentication due to {REASON}","groupId":"reports"}}\n'
)
SET = (
    f"{AT}INFO [QuorumController id=100] Replayed UserScramCredentialRecord modifying existing entry for "
    "payments with mechanism SCRAM_SHA_512. (org.apache.kafka.controller.ScramControlManager)\n"
)
REMOVED = (
    f"{AT}INFO [QuorumController id=100] Replayed RemoveUserScramCredentialRecord for payments with "
    "mechanism SCRAM_SHA_256. (org.apache.kafka.controller.ScramControlManager)\n"
)
TOO_LONG = "transaction timeout is larger than the maximum value allowed by the broker"


def found(folder: Path, text: str, kind: str) -> list[dict[str, Any]]:
    path = folder / NAMES[kind]
    path.write_text(text)
    return of_kind(rows(path), kind)


def test_a_broker_refuses_a_login(tmp_path: Path) -> None:
    (one,) = found(tmp_path, BROKER, "complaint")
    assert (one["error"], one["detail"]) == ("FailedAuthentication", REASON)


@pytest.mark.parametrize(("text", "group"), [(JAVA, "billing"), (FRANZ_GO, "shipping"), (KAFKAJS, "reports")])
def test_a_member_can_not_log_in(text: str, group: str, tmp_path: Path) -> None:
    (one,) = found(tmp_path, text, "refused")
    assert (one["error"], one["group"]) == ("SASL_AUTHENTICATION_FAILED", group)
    assert one["detail"].endswith(REASON)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SET, "password of payments was set (SCRAM-SHA-512)"),
        (REMOVED, "password of payments was removed (SCRAM-SHA-256)"),
    ],
)
def test_a_password_is_altered(text: str, told: str, tmp_path: Path) -> None:
    assert [each["detail"] for each in found(tmp_path, text, "config")] == [told]


@pytest.mark.parametrize(
    "said",
    [
        f"KafkaException: Unexpected error in InitProducerIdResponse; The {TOO_LONG}",
        f"INVALID_TRANSACTION_TIMEOUT: Failed to acquire transactional PID: Broker: T{TOO_LONG[1:]}",
        "InvalidTransactionTimeout: [Error 50] InvalidTransactionTimeout",
    ],
)
def test_a_transaction_timeout_is_refused(said: str, tmp_path: Path) -> None:
    (one,) = found(tmp_path, f"2026-11-30 04:11:18,551 ERROR writer-5: {said}\n", "refused")
    assert (one["error"], one["client"]) == ("INVALID_TRANSACTION_TIMEOUT", "writer-5")


def test_each_broker_tells_of_its_own_connections(tmp_path: Path) -> None:
    for broker in (1, 2):
        log = tmp_path / f"broker{broker}" / "server.log"
        log.parent.mkdir()
        began = f"{AT}INFO [BrokerServer id={broker}] Transition from STARTING to STARTED (kafka.B)\n"
        log.write_text(began + BROKER + BROKER.replace("13,534", "53,534"))
    symptoms = analyze([tmp_path], tmp_path / "out").symptoms
    assert [(each.name, each.broker) for each in symptoms] == [("login-refused", 1), ("login-refused", 2)]
