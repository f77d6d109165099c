"""What a coordinator of 4.1 knows of a group that it has read from its records."""

from mockbroker.rig.stories import Steps

from ..stage import StreamsStage


def loaded(s: StreamsStage) -> Steps:
    """A group whose members stayed, and one that a member has left."""
    s.topic("lines", 2)
    stays, one, two = s.member("A", "stays"), s.member(), s.member("B")
    for each in (stays, one):
        each.run(*s.words())
    two.join(*s.words())
    s.settle([one, two])
    two.leave()
    s.settle([one])
    s.settle([stays], "stays")
    yield "before", [s.state("stays"), s.state()]
    s.brokers.stop_broker(1)
    s.brokers.start_broker(1)
    s.close()
    s.brokers.until(s.coordinates, "the coordinator")
    yield "read", s.described("stays", "g")
    for each, group in ((stays, "stays"), (one, "g")):
        yield f"{group} beats", each.beat()
        yield f"{group} then", s.state(group)
        yield f"{group} beats again", each.beat()
        yield f"{group} at last", s.described(group)
