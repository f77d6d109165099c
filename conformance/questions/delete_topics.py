"""DeleteTopics: KIP-4, KIP-516 (ids, from v6 on)."""

from typing import Any

from ...rig.scene import UNKNOWN_TOPIC_ID
from ..registry import Scene, Steps, question


def _delete(s: Scene, *names: str) -> Any:
    topics = [{"name": name, "topic_id": None} for name in names]
    return s.ask(topic_names=list(names), topics=topics, timeout=10000)


def by_name(s: Scene) -> Steps:
    topic = s.topic()
    yield "existing", _delete(s, topic)
    yield "again", _delete(s, topic)


def several(s: Scene) -> Steps:
    a, b = s.topic("a"), s.topic("b")
    yield "two and an unknown one", _delete(s, a, s.name("unknown"), b)
    yield "none", _delete(s)


def duplicates(s: Scene) -> Steps:
    a, b = s.topic("a"), s.topic("b")
    yield "the same twice", _delete(s, a, b, a)
    yield "then", _delete(s, a, b)


def names(s: Scene) -> Steps:
    yield "unknown", _delete(s, s.name("unknown"))
    yield "empty", _delete(s, "")
    yield "invalid", _delete(s, "a b")


@question(since=6)
def by_id(s: Scene) -> Steps:
    a, b, c = s.topic("a"), s.topic("b"), s.topic("c")

    def ask(*topics: tuple[str | None, Any]) -> Any:
        return s.ask(topics=[{"name": name, "topic_id": ident} for name, ident in topics], timeout=10000)

    yield "unknown id", ask((None, UNKNOWN_TOPIC_ID))
    yield "zero id, null name", ask((None, None))
    yield "id and name", ask((a, s.topic_id(a)))
    yield "unknown id and name", ask((a, UNKNOWN_TOPIC_ID))
    yield "empty name", ask(("", None))
    yield "same topic by id and by name", ask((None, s.topic_id(b)), (b, None))
    yield "same id twice", ask((None, s.topic_id(c)), (None, s.topic_id(c)))
    yield "existing id", ask((None, s.topic_id(a)))
    yield "again", ask((None, s.topic_id(a)))


def created_again(s: Scene) -> Steps:
    """The new topic is empty and has another id."""
    topic = s.topic()
    ident = s.topic_id(topic)
    s.fill(topic, 3)
    yield "deleted", _delete(s, topic)
    s.until(lambda: s.offset(topic) is None)
    again = s.topic()
    yield "log end", s.offset(again)
    yield "same id", s.topic_id(again) == ident
