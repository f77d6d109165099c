"""Log messages of KafkaJS and franz-go about positions."""

from typing import Final

from .log_messages import Table, message

_PLACE: Final = r"topic: (?P<topic>[\w.-]+), partition: {partition}"

TABLE: Final = Table.of(
    # KafkaJS, consumerGroup.js
    message(
        "refused",
        "Offset out of range, resetting to default offset",
        rf"Offset out of range, resetting to default offset.*?{_PLACE}",
        api="Fetch",
        error="OFFSET_OUT_OF_RANGE",
    ),
    message(
        "reset",
        "Offset out of range, resetting to default offset",
        rf"Offset out of range, resetting to default offset.*?{_PLACE}",
        detail="default offset",
    ),
    # franz-go, source.go
    message(
        "refused",
        "received OFFSET_OUT_OF_RANGE",
        rf"received OFFSET_OUT_OF_RANGE.*?{_PLACE}, prior_offset: {{offset}}",
        api="Fetch",
        error="OFFSET_OUT_OF_RANGE",
    ),
    message(
        "reset",
        "received OFFSET_OUT_OF_RANGE",
        rf"received OFFSET_OUT_OF_RANGE.*?{_PLACE}, prior_offset: {{from_offset}}",
        detail="configured offset",
    ),
)
