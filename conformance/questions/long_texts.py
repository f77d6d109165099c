"""Answers whose text is longer than the 32,767 bytes that a version before compact lengths can say."""

import struct
from typing import Any, Final

from ...rig.client import decode, encode, flexible, key_of
from ...rig.scene import CLOSED, NO_ANSWER
from ..registry import Scene, Steps, about

_HERE: Final = "here"
_LONGEST: Final = b"x" * 32767
_LONGER_ONCE_READ: Final = b"\xff" * 20000
"""Not UTF-8: each of these bytes is read as a character of three."""
_SHOWN: Final = 100
_WAIT_S: Final = 1.0


def _asked(s: Scene, fields: dict[str, Any], text: bytes) -> Any:
    """The answer to a request with `text` wherever it says `_HERE`."""
    body = encode(s.api, s.version, fields)
    short = struct.pack(">h", len(_HERE)) + _HERE.encode()
    body = body.replace(short, struct.pack(">h", len(text)) + text)
    client = s.new_client()
    client.set_timeout(_WAIT_S)
    try:
        answer = client.raw(key_of(s.api), s.version, body, flexible(s.api, s.version))
    except TimeoutError:
        return NO_ANSWER
    except ConnectionError:
        return CLOSED
    return _shown(decode(s.api, s.version, answer))


def _shown(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _SHOWN:
        return f"{value[0]!r} and so on, {len(value)} characters"
    if isinstance(value, dict):
        return {name: _shown(each) for name, each in value.items()}
    return [_shown(each) for each in value] if isinstance(value, list) else value


def _ask(api: str, versions: list[int], fields: dict[str, Any]) -> None:
    def the_longest_text(s: Scene) -> Steps:
        """If an answer has an error message that contains the text, the message is even longer."""
        yield "asked", _asked(s, fields, _LONGEST)

    about(api)(at=versions)(the_longest_text)


def _ask_longer(api: str, versions: list[int], fields: dict[str, Any]) -> None:
    def text_that_is_longer_once_read(s: Scene) -> Steps:
        """An answer that names it can't be written, nor can an error that does. Not asked of what a broker
        forwards to its controller: that would wait for the answer, and all other clients behind it."""
        yield "asked", _asked(s, fields, _LONGER_ONCE_READ)

    about(api)(at=versions)(text_that_is_longer_once_read)


_TOPIC: Final = {"name": _HERE, "num_partitions": 1, "replication_factor": 1}
_RESOURCES: Final = {"resources": [{"resource_type": 2, "resource_name": _HERE, "configs": []}]}
_GROUP: Final = {"group_id": "long", "topics": [{"name": _HERE, "partition_indexes": [0]}]}

_ask("create_topics", [2, 4], {"topics": [_TOPIC, {**_TOPIC, "name": "a topic"}], "timeout": 5000})
_ask("alter_configs", [0, 1], _RESOURCES)
_ask("incremental_alter_configs", [0], _RESOURCES)
_ask("describe_configs", [1, 3], {"resources": [{"resource_type": 2, "resource_name": _HERE}]})
_ask("delete_topics", [1, 3], {"topic_names": [_HERE], "timeout": 5000})
_ask("create_partitions", [0, 1], {"topics": [{"name": _HERE, "count": 2}], "timeout": 5000})
_ask("elect_leaders", [0, 1], {"topic_partitions": [{"topic": _HERE, "partitions": [0]}], "timeout": 5000})
_ask("metadata", [1, 8], {"topics": [{"name": _HERE}]})
_ask_longer("metadata", [1], {"topics": [{"name": _HERE}]})
_ask_longer("offset_fetch", [1, 5], _GROUP)
