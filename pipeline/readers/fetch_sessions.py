"""Incremental fetch sessions (KIP-227), in which a request names only partitions whose position has
changed."""

from typing import Any

Body = dict[str, Any]
_Key = tuple[str, int]


class FetchSession:
    """What the fetches of one connection ask for."""

    def __init__(self) -> None:
        self._parts: dict[_Key, tuple[Body, Body]] = {}

    def asked(self, request: Body) -> None:
        """A request came. A session epoch of 0 or -1 starts again."""
        if request.get("session_epoch", -1) <= 0:
            self._parts.clear()
        for topic in request.get("topics") or []:
            for part in topic["partitions"]:
                self._parts[_topic(topic), part["partition"]] = (topic, part)
        for topic in request.get("forgotten_topics_data") or []:
            for index in topic["partitions"]:
                self._parts.pop((_topic(topic), index), None)

    def completed(self, request: Body, answer: Body) -> Body:
        """The request with the partitions of `answer` that it left out."""
        here = {
            (_topic(topic), part["partition"])
            for topic in request.get("topics") or []
            for part in topic["partitions"]
        }
        more = []
        for topic in answer.get("responses") or []:
            for part in topic["partitions"]:
                key = (_topic(topic), part["partition_index"])
                if key not in here and key in self._parts:
                    named, left_out = self._parts[key]
                    more.append(named | {"partitions": [left_out]})
        return request | {"topics": [*(request.get("topics") or []), *more]} if more else request


def _topic(topic: Body) -> str:
    return str(topic.get("topic") or topic.get("topic_id"))
