"""Regular expressions that clients send: in ListTransactions and in subscriptions they are read by RE2/J, in
`match` of client metrics by `java.util.regex`."""

from collections.abc import Callable
from typing import Any, Final

from ...rig.consumer_scene import ConsumerMember
from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps, about

list_transactions = about("list_transactions")
heartbeat = about("consumer_group_heartbeat")
telemetry = about("get_telemetry_subscriptions")

_SHOWN: Final = 60
_DEEP: Final = "(" * 3_000 + "a" + ")" * 3_000
_CLIENT_METRICS: Final = 16
_NOT_RE2: Final = {
    "look-ahead": "(?=bu).*",
    "look-behind": ".*(?<=u)s.*",
    "an atomic group": "(?>bu).*",
    "a back-reference": r"(b)\1.*",
    "a possessive repeat": "bu.*+",
    "a repeat of a repeat": "bu{1}{1}.*",
    "comments": "(?x) bu .*",
    "a character by number": r"\u0062.*",
    "a byte": r"\C.*",
    "no line break": r"\R.*",
    "a class of Java": r"\p{Alpha}.*",
    "a name twice": "(?P<n>b)(?P<n>u).*",
}
"""What RE2/J refuses; Java reads most of it."""
_REPEATS: Final = {
    "1,000 times": ".{0,1000}",
    "1,001 times": ".{0,1001}",
    "more than any number": "b{99999999999999999999}.*",
    "backwards": "b{5,2}.*",
    "a brace": "bu.*|{",
    "half a repeat": "bu.*|a{2",
    "nothing to repeat": "*",
}
_OTHERS: Final = {
    "a part": "us",
    "a choice": "bu.*|id.*",
    "any case": "(?i)BU.*",
    "anchors": "^bu.*$",
    "a group with a name": "(?P<n>bu).*",
    "a group with a name, in Java's way": "(?<n>bu).*",
    "a quotation": r"\Qbu\E.*",
    "an open group": "bu(",
    "an open class": "bu[",
    "a backslash": "bu.*\\",
    "a class of letters": r"\pL+.*",
    "brackets": "(" * 300 + "bu.*" + ")" * 300,
    "a line": "bu.*\n",
    "every name": "(b+)+.*",
}
_LARGE: Final = {"100 times 100": "(a{100}){100}|bu.*"}
_OF_JAVA: Final = {
    "a class of POSIX": "[[:alpha:]]+.*",
    "a class in a class": "[a[bu]]+.*",
    "classes that overlap": "[a-z&&[bu]]+.*",
    "an octal number": r"\0142.*",
    "an octal number, in RE2's way": r"\142.*",
    "a script": r"\p{Greek}*bu.*",
    "the end": r"bu.*\Z",
}


@list_transactions(since=2)
def patterns(s: Scene) -> Steps:
    """Which transactional ids match, or how the pattern is refused."""
    ask = _matched(s)
    for what, pattern in {**_NOT_RE2, **_REPEATS, **_OTHERS, **_OF_JAVA}.items():
        yield what, ask(pattern)
    yield "3,000 brackets", ask(_DEEP)


@list_transactions(since=2)
def large_patterns(s: Scene) -> Steps:
    ask = _matched(s)
    for what, pattern in _LARGE.items():
        yield what, ask(pattern)


def _matched(s: Scene) -> Callable[[str], Any]:
    busy, idle = TransactionalProducer(s, "busy"), TransactionalProducer(s, "idle")

    def ask(pattern: str) -> Any:
        answer = s.ask({"producer_id_filters": [busy.id, idle.id], "transactional_id_pattern": pattern})
        return [
            answer["error_code"],
            sorted(each["transactional_id"] for each in answer["transaction_states"]),
        ]

    return ask


@heartbeat(since=1)
def subscribed_patterns(s: Scene) -> Steps:
    """Which are accepted, and what those who sent the others are told."""
    for what, pattern in {**_NOT_RE2, **_REPEATS, **_OTHERS, **_OF_JAVA}.items():
        yield what, _joined(s, pattern)
    yield "3,000 brackets", _joined(s, _DEEP)


@heartbeat(since=1)
def large_subscribed_patterns(s: Scene) -> Steps:
    for what, pattern in _LARGE.items():
        yield what, _joined(s, pattern)


def _joined(s: Scene, pattern: str) -> Any:
    member = ConsumerMember(s, s.name("g"), [])
    answer = member.join(subscribed_topic_names=None, subscribed_topic_regex=pattern)
    if answer["error_code"] == "NONE":
        member.leave()
        return "accepted"
    return [answer["error_code"], answer["error_message"]]


@telemetry()
def matched_patterns(s: Scene) -> Steps:
    """Which are accepted. They are items of a list: there is no comma in them."""
    for what, pattern in {**_REPEATS, **_OTHERS}.items():
        if "," not in pattern:
            yield what, _altered(s, pattern)
    yield "3,000 brackets", _altered(s, _DEEP)


@telemetry()
def matched_patterns_of_java(s: Scene) -> Steps:
    """What `java.util.regex` reads, and RE2 does not, or otherwise."""
    for what, pattern in {**_NOT_RE2, **_LARGE, **_OF_JAVA}.items():
        yield what, _altered(s, pattern)


def _altered(s: Scene, pattern: str) -> Any:
    """The answer to a change of `match`; of its message the beginning, as it quotes the pattern."""
    config = {"name": "match", "config_operation": 0, "value": f"client_id={pattern}"}
    resource = {"resource_type": _CLIENT_METRICS, "resource_name": s.name("m"), "configs": [config]}
    fields = {"resources": [resource], "validate_only": True}
    (answer,) = s.call("incremental_alter_configs", fields)["responses"]
    message = answer["error_message"]
    return [answer["error_code"], message and message[:_SHOWN]]
