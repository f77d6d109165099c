"""Fetch sessions (KIP-227)."""

from typing import Any

from ...rig.batches import batch
from ..registry import Scene, Steps, about
from .fetch import fields, part

question = about("fetch")

FEW = (7, 11, 12, 13, 17)


class _Session:
    """The client's side of a session."""

    def __init__(self, s: Scene) -> None:
        self._s, self.id, self.epoch = s, 0, 0

    def ask(
        self,
        *topics: tuple[str, list[dict[str, Any]]],
        forget: tuple[tuple[str, list[int]], ...] = (),
        **more: Any,
    ) -> Any:
        forgotten = [{**self._s.topic_ref(name, "topic"), "partitions": parts} for name, parts in forget]
        asked = fields(self._s, *topics, session_id=self.id, session_epoch=self.epoch)
        answer = self._s.ask({**asked, "forgotten_topics_data": forgotten, **more})
        self.id, self.epoch = answer["session_id"], self.epoch + 1
        return answer


@question(at=FEW)
def incremental(s: Scene) -> Steps:
    """After the first answer only partitions with changes are in the answer."""
    topic = s.topic(partitions=2)
    session = _Session(s)
    yield "first", session.ask((topic, [part(0), part(1)]))
    yield "nothing new", session.ask()
    s.fill(topic, 2, partition=1)
    yield "partition 1 has data", session.ask()
    yield "still at the old offset", session.ask()
    yield "offset moved", session.ask((topic, [part(1, 2)]))
    yield "nothing new", session.ask()


@question(at=FEW)
def added_and_forgotten(s: Scene) -> Steps:
    a, b = s.topic("a"), s.topic("b", partitions=2)
    session = _Session(s)
    yield "first", session.ask((a, [part()]))
    yield "two added", session.ask((b, [part(0), part(1)]))
    s.fill(a, 1)
    s.fill(b, 1)
    yield "both have data", session.ask()
    yield "a forgotten", session.ask(forget=((a, [0]),))
    yield "forgotten twice, and one never asked for", session.ask(forget=((a, [0]), (b, [7])))
    yield "forgotten and added at once", session.ask((b, [part(0, 1)]), forget=((b, [0]),))
    yield "all forgotten", session.ask(forget=((b, [0, 1]),))


@question(at=FEW)
def wrong_epochs(s: Scene) -> Steps:
    topic = s.topic()
    session = _Session(s)
    session.ask((topic, [part()]))
    for epoch in (2, 0, 1):
        yield (
            f"epoch {epoch}, expected 1",
            s.ask(fields(s, session_id=session.id, session_epoch=epoch, topics=[])),
        )


@question(at=FEW)
def repeated_epoch(s: Scene) -> Steps:
    """The session survives a wrong epoch."""
    topic = s.topic()
    session = _Session(s)
    session.ask((topic, [part()]))
    session.ask()
    again = fields(s, session_id=session.id, session_epoch=1)
    yield "epoch 1 again", s.ask(again)
    yield "epoch 2", s.ask({**again, "session_epoch": 2})


@question(at=FEW)
def unknown_sessions(s: Scene) -> Steps:
    topic = s.topic()
    asked = fields(s, (topic, [part()]))
    for session, epoch in ((123456, 1), (123456, 0), (123456, -1), (0, 1), (0, 0), (0, -1), (-5, 1), (0, -2)):
        yield f"id {session}, epoch {epoch}", s.ask({**asked, "session_id": session, "session_epoch": epoch})


@question(at=FEW)
def closing(s: Scene) -> Steps:
    """Epoch -1 closes the session; epoch 0 replaces it."""
    topic = s.topic()
    s.fill(topic, 1)
    session = _Session(s)
    session.ask((topic, [part()]))
    asked = fields(s, (topic, [part()]), session_id=session.id)
    yield "epoch -1", s.ask({**asked, "session_epoch": -1})
    yield "then epoch 1", s.ask({**asked, "session_epoch": 1, "topics": []})
    session = _Session(s)
    session.ask((topic, [part()]))
    asked = fields(s, (topic, [part()]), session_id=session.id)
    yield "epoch 0", s.ask({**asked, "session_epoch": 0})
    yield "the old one, epoch 1", s.ask({**asked, "session_epoch": 1, "topics": []})


@question(at=FEW)
def closing_by_java(s: Scene) -> Steps:
    """The Java client names no topics when it closes a session, and gets none, whatever is new."""
    topic = s.topic()
    session = _Session(s)
    session.ask((topic, [part()]))
    s.fill(topic, 1)
    asked = fields(s, session_id=session.id)
    yield "epoch -1, no topics", s.ask({**asked, "session_epoch": -1})
    yield "then epoch 1", s.ask({**asked, "session_epoch": 1})


@question(at=FEW)
def empty_first_request(s: Scene) -> Steps:
    """A session needs partitions."""
    yield "epoch 0, no topics", _Session(s).ask()


@question(at=FEW)
def errors_in_a_session(s: Scene) -> Steps:
    """A partition with an error is in every answer."""
    topic, unknown = s.topic(), s.name("unknown")
    session = _Session(s)
    yield "first", session.ask((topic, [part(0), part(5)]), (unknown, [part()]))
    yield "again", session.ask()
    s.fill(topic, 2)
    session.ask((topic, [part(0, 2)]))
    yield "out of range", session.ask((topic, [part(0, 9)]))
    yield "again", session.ask()


@question(at=(7, 12, 13, 17))
def topic_created_later(s: Scene) -> Steps:
    """By name the session finds a topic that was created later; by id it can't."""
    session = _Session(s)
    name = s.name("later")
    existing = s.topic()
    yield "unknown", session.ask((existing, [part()]), (name, [part()]))
    s.topic("later")
    yield "created", session.ask()


@question(at=(7, 12, 13, 17))
def topic_deleted(s: Scene) -> Steps:
    topic = s.topic()
    kept = s.topic("kept")
    session = _Session(s)
    session.ask((topic, [part()]), (kept, [part()]))
    s.delete_topic(topic)
    s.until(lambda: s.offset(topic) is None)
    yield "deleted", session.ask()
    yield "again", session.ask()


@question(at=(7, 12, 17))
def waiting_in_a_session(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    session = _Session(s)
    session.ask((topic, [part(0), part(1)]))
    asked = fields(s, session_id=session.id, session_epoch=1, max_wait=8000, min_bytes=1)
    pending = s.send(asked)
    s.produce(topic, batch(2), 1, client=s.new_client("writer"))
    yield "woken", s.receive(pending)


@question(at=(7, 12, 13, 17))
def rotation(s: Scene) -> Steps:
    """Partitions that returned records are moved to the end, so that none starves."""
    topic = s.topic(partitions=3)
    for partition in range(3):
        s.fill(topic, 1, partition=partition)
    session = _Session(s)
    yield "first", session.ask((topic, [part(index, 0, 100) for index in range(3)]), max_bytes=1)["responses"]
    for _ in range(3):
        yield "one batch each time", session.ask(max_bytes=1)["responses"]


@question(at=FEW)
def named_twice_in_a_session(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.fill(topic, 1, 1)
    session = _Session(s)
    yield "opened with a topic twice", session.ask((topic, [part(0, 0)]), (topic, [part(0, 1)]))
    yield "nothing new", session.ask()
    yield "added twice", session.ask((topic, [part(1, 0)]), (topic, [part(1, 0)]))
    yield "changed twice", session.ask((topic, [part(0, 2)]), (topic, [part(0, 1)]))
    yield "forgotten twice", session.ask(forget=((topic, [0, 0]), (topic, [0])))
    yield "after it", session.ask()


@question(at=FEW)
def partition_twice_in_a_session(s: Scene) -> Steps:
    topic = s.topic()
    s.fill(topic, 1, 1)
    session = _Session(s)
    yield "opened", session.ask((topic, [part(0, 0), part(0, 1)]))
    yield "nothing new", session.ask()
