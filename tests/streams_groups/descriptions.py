"""Instances describe their topologies, and a plugin of the broker keeps that (KIP-1331)."""

from typing import Any, Final

from mockbroker.rig.stories import Steps

from .stage import Instance, StreamsStage

PLUGIN: Final = {
    "group.streams.topology.description.plugin.class": (
        "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin"
    )
}
"""The one that comes with Kafka."""
_SOURCE, _PROCESSOR, _SINK = 1, 2, 3


def _node(name: str, kind: int, *successors: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "node_type": kind, "successors": list(successors), **fields}


def _description(s: StreamsStage) -> dict[str, Any]:
    nodes = [
        _node("in", _SOURCE, "count", source_topics=[s.named("lines")]),
        _node("count", _PROCESSOR, "out", stores=["totals"]),
        _node("out", _SINK, sink_topic=s.named("words")),
    ]
    store = {
        "source": _node("all", _SOURCE, "keep", source_topics=[s.named("all")]),
        "processor": _node("keep", _PROCESSOR, stores=["kept"]),
    }
    return {"subtopologies": [{"subtopology_id": "0", "nodes": nodes}], "global_stores": [store]}


def _describe(one: Instance, description: Any, **fields: Any) -> Any:
    asked = {
        "group_id": one.s.named("g"),
        "member_id": one.id,
        "topology_epoch": 0,
        "topology_description": description,
        **fields,
    }
    return one.s.say("streams_group_topology_description_update", asked)


def _shown(s: StreamsStage) -> Any:
    (found,) = s.described(include_topology_description=True)
    return [found["topology_description_status"], found["topology_description"]]


def describing(s: StreamsStage) -> Steps:
    """What a broker with a plugin asks for, takes and gives."""
    s.needs("streams_group_topology_description_update")
    s.topic("lines", 2)
    one, full = s.member(), _description(s)
    yield "no such group", _describe(one, full)
    yield "joins", one.join(*s.words())["topology_description_required"]
    yield "at once", one.beat()["topology_description_required"]
    one.run(*s.words())
    yield "not stored", _shown(s)
    yield "not asked for", s.described()[0]["topology_description_status"]
    yield "no group id", _describe(one, full, group_id="")
    yield "no member id", _describe(one, full, member_id="")
    yield "another member", _describe(one, full, member_id="nobody")
    yield "another epoch", _describe(one, full, topology_epoch=1)
    yield "an epoch of -1", _describe(one, full, topology_epoch=-1)
    broken = {"subtopologies": [{"subtopology_id": "0", "nodes": [_node("odd", 7)]}], "global_stores": []}
    yield "a node of type 7", _describe(one, broken)
    yield "still not stored", _shown(s)
    yield "described", _describe(one, full)
    yield "beats", one.beat()["topology_description_required"]
    yield "stored", _shown(s)
    yield "empty", _describe(one, {"subtopologies": [], "global_stores": []})
    yield "stored then", _shown(s)
    yield "another joins", s.member("B").join(*s.words())["topology_description_required"]
    one.leave()
    yield "after it left", _describe(one, full)
    yield "stored still", _shown(s)


def deleted(s: StreamsStage) -> Steps:
    """A group is deleted, and there is another of its name."""
    s.needs("streams_group_topology_description_update")
    s.topic("lines")
    one = s.member()
    one.run(*s.words())
    yield "described", _describe(one, _description(s))
    one.leave()
    yield "stored", _shown(s)[0]
    yield "deleted", s.say("delete_groups", {"groups_names": [s.named("g")]})
    one.epoch = 0
    one.run(*s.words())
    yield "not stored", _shown(s)
    yield "beats", one.beat()["topology_description_required"]
