"""What applications do after an error is what the client's documentation says, word for word."""

import pytest

from mockbroker.clients.drivers import Refusal
from mockbroker.clients.drivers.documentation import FOLDER, Act, Documentation, documentation

TABLES = sorted(FOLDER.glob("*.toml"))
VERBS = (
    "open",
    "begin",
    "send-offsets",
    "commit-transaction",
    "abort-transaction",
    "produce",
    "commit",
    "poll",
)
FATAL = Refusal("_FENCED", "", fatal=True, retriable=False, abortable=False)
ABORTABLE = Refusal("_FAIL", "", fatal=False, retriable=False, abortable=True)
RETRIABLE = Refusal("_TIMED_OUT", "", fatal=False, retriable=True, abortable=False)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_error_has_a_rule_and_no_abort_is_aborted(path: object) -> None:
    table = Documentation.load(path)  # type: ignore[arg-type]
    assert table.source
    assert all(each.says and each.then for each in table.rules)
    for error in (Refusal("unknown", ""), FATAL, ABORTABLE, RETRIABLE):
        assert all(table.after(verb, error).then for verb in VERBS)
        assert Act.ABORT not in table.after("abort-transaction", error).then


@pytest.mark.parametrize(
    "client", ["librdkafka 2.16.1", "rdkafka for Rust 0.39.0 (librdkafka 2.12.1)", "my-client 1.0"]
)
def test_flags_say_what_to_do(client: str) -> None:
    table = documentation(client)
    assert table.after("commit-transaction", FATAL).then == [Act.CLOSE]
    assert table.after("commit-transaction", ABORTABLE).then == [Act.ABORT]
    assert table.after("commit-transaction", RETRIABLE).then[0] is Act.RETRY


def test_a_commit_that_timed_out_may_not_be_aborted() -> None:
    table = documentation("kafka-clients 4.4.0")
    late = Refusal("TimeoutException", "", retriable=True)
    assert table.after("commit-transaction", late).then == [Act.RETRY, Act.CLOSE]
    assert table.after("send-offsets", Refusal("KafkaException", "")).then == [Act.ABORT]


def test_who_uses_franz_go_does_not_go_on_with_a_topic_that_was_created_again() -> None:
    table = documentation("franz-go 1.22.2")
    for verb in ("produce", "poll", "commit-transaction"):
        assert table.after(verb, Refusal("UNKNOWN_TOPIC_ID", "")).then == [Act.CLOSE]
    assert table.after("produce", Refusal("UNKNOWN_TOPIC_OR_PARTITION", "")).then[0] is Act.GO_ON
