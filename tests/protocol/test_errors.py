"""Kafka's error codes and what it says to them."""

from mockbroker.protocol.errors import ErrorCode, default_message


def test_every_error_has_a_default_message() -> None:
    assert [code.name for code in ErrorCode if not default_message(code)] == ["NONE"]
    assert default_message(ErrorCode.TOPIC_DELETION_DISABLED) == "Topic deletion is disabled."
