"""IncrementalAlterConfigs with values, names and lists in odd forms."""

from typing import Any

from ..registry import Scene, Steps, about
from .alter_configs import dynamic
from .describe_configs import BROKER, LOGGER
from .incremental_alter_configs import APPEND, DELETE, SET, SUBTRACT, altered, outcome

question = about("incremental_alter_configs")


NUMBERS = {
    "underscore": "1_000_000",
    "spaces": " 1000000 ",
    "controls": "\t\x01\n1000000\x00\r",
    "a no-break space": "1000000\N{NO-BREAK SPACE}",
    "a wide space": "\N{EM SPACE}1000000",
    "plus": "+1000000",
    "two signs": "+-1000000",
    "sign alone": "-",
    "minus zero": "-0",
    "leading zeros": "0001000000",
    "Arabic digits": "\N{ARABIC-INDIC DIGIT NINE}000000",
    "wide digits": "\N{FULLWIDTH DIGIT NINE}000000",
    "digits beyond 16 bits": "\N{MATHEMATICAL BOLD DIGIT NINE}000000",
    "superscript": "9\N{SUPERSCRIPT TWO}",
    "exponent": "1e6",
    "fraction": "1000000.0",
    "hexadecimal": "0x100000",
    "long suffix": "1000000L",
    "double suffix": "1000000d",
    "dot first": ".5",
    "dot last": "1.",
    "NaN": "NaN",
    "minus infinity": "-Infinity",
    "nan": "nan",
    "inf": "inf",
    "hexadecimal fraction": "0x1.8p-1",
    "tiny": "1e-400",
    "huge": "1e400",
    "5,000 digits": "1" * 5000,
    "5,000 zeros": "0" * 5000 + "1",
    "minus 5,000 digits": "-" + "1" * 5000,
    "5,000 letters": "x" * 5000,
    "a long zero": "0." + "0" * 5000 + "1",
}


@question(newest_only=True)
def forms_of_numbers(s: Scene) -> Steps:
    """Values are parsed by Java's rules."""
    topic = s.topic()
    names = ("retention.ms", "max.message.bytes", "min.cleanable.dirty.ratio", "preallocate")
    for label, value in NUMBERS.items():
        for name in names:
            answer = altered(s, topic, (SET, name, value), validate_only=True)["responses"]
            yield f"{name}: {label}", outcome(answer, value)


@question(newest_only=True)
def shown_numbers(s: Scene) -> Steps:
    """The form in which DescribeConfigs shows what was set."""
    topic = s.topic()
    shown = {
        "retention.ms": (" +60000 ", "-0", "00070000"),
        "min.cleanable.dirty.ratio": ("0.50", "1e-4", "0x1p-1", ".5f", "1", "1d", "0.1234567890123456789"),
        "preallocate": (" TRUE", "False", "fal\N{LATIN SMALL LETTER LONG S}e"),
        "cleanup.policy": (
            " delete\t,  compact ",
            "delete\N{NO-BREAK SPACE},compact",
            "delete,,compact",
            ",delete",
        ),
        "leader.replication.throttled.replicas": (
            "0:1, 1:2",
            "\N{ARABIC-INDIC DIGIT NINE}:1",
            "*,*",
            "0:1,*",
        ),
    }
    for name, values in shown.items():
        for value in values:
            answer = altered(s, topic, (SET, name, value))["responses"]
            yield f"{name}={value}", outcome(answer, value)
            if answer[0]["error_code"] == "NONE":
                # Whatever comes next was altered later than this.
                yield "then", s.until(lambda name=name: dynamic(s, topic).get(name))  # type: ignore[misc]
                altered(s, topic, (DELETE, name, None))
                s.until(lambda name=name: name not in dynamic(s, topic))  # type: ignore[misc]


@question(newest_only=True)
def ids_of_brokers(s: Scene) -> Steps:
    def alter(name: str, kind: int) -> Any:
        answer = altered(s, name, (SET, "log.retention.ms", "soon"), kind=kind, validate_only=True)
        for each in answer["responses"]:
            each["resource_name"] = ""
            each["error_message"] = each["error_message"].replace("1" * 5000, "1…1")
        return answer["responses"]

    for kind, label in ((BROKER, "broker"), (LOGGER, "loggers")):
        for name in (
            "+9999",
            " 9999",
            "9_999",
            "\N{ARABIC-INDIC DIGIT NINE}",
            "9.0",
            "1" * 5000,
            "-1",
            "x\0",
        ):
            yield f"{label} {name[:9]!a}", alter(name, kind)


@question(newest_only=True)
def lists_in_odd_forms(s: Scene) -> Steps:
    topic = s.topic()
    for operation, label in ((APPEND, "append"), (SUBTRACT, "subtract")):
        for value in (
            "",
            " ",
            ",",
            "compact ",
            " compact",
            "compact,,delete",
            "compact,",
            ",compact",
            "delete, compact",
        ):
            answer = altered(s, topic, (operation, "cleanup.policy", value), validate_only=True)
            yield f"{label} {value!r}", answer["responses"]


@question(newest_only=True)
def broker_numbers(s: Scene) -> Steps:
    """Nothing is changed."""
    names = ("log.retention.ms", "message.max.bytes", "log.cleaner.min.cleanable.ratio")
    for label, value in NUMBERS.items():
        for name in names:
            answer = altered(s, "", (SET, name, value), kind=BROKER, validate_only=True)["responses"]
            yield f"{name}: {label}", outcome(answer, value)
