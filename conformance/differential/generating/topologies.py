"""Topologies of streams groups: those that can be, and others."""

from collections.abc import Callable
from typing import Any, Final

from .world import World

Subtopologies = list[dict[str, Any]]
Named = Callable[[str], str]


def topology(world: World, group: str) -> dict[str, Any]:
    """That of the group, as its members have it; seldom another."""
    if group not in world.topologies:
        world.topologies[group] = _drawn(world, group)
    known = world.topologies[group]
    choice = world.rng.random()
    if choice < 0.86:
        return known
    if choice < 0.89:
        return {**known, "subtopologies": known["subtopologies"][::-1]}
    if choice < 0.93:
        return {**known, "epoch": known["epoch"] + world.rng.choice((1, -1))}
    other = _drawn(world, group)
    if world.chance(30):
        world.topologies[group] = other
    return other


def _drawn(world: World, group: str) -> dict[str, Any]:
    kinds = list(_KINDS)
    draw = world.rng.choices(kinds, [_KINDS[each] for each in kinds])[0]
    # A group has the same internal topics whatever its topology is.
    prefix = group.removesuffix("~")
    found = draw(world, lambda name: f"{prefix}{name}~")
    return {"epoch": world.rng.choices((0, 1, 5), (70, 20, 10))[0], "subtopologies": found}


def _subtopology(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "subtopology_id": name,
        "source_topics": [],
        "source_topic_regex": [],
        "state_changelog_topics": [],
        "repartition_sink_topics": [],
        "repartition_source_topics": [],
        "copartition_groups": [],
        **fields,
    }


def _internal(name: str, partitions: int = 0, **configs: str) -> dict[str, Any]:
    return {
        "name": name,
        "partitions": partitions,
        "replication_factor": 0,
        "topic_configs": [{"key": key.replace("_", "."), "value": value} for key, value in configs.items()],
    }


def _together(*sources: int, repartitions: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    return [
        {
            "source_topics": list(sources),
            "source_topic_regex": [],
            "repartition_source_topics": list(repartitions),
        }
    ]


def _sources(world: World, counts: tuple[int, ...] = (1, 1, 2)) -> list[str]:
    return list(dict.fromkeys(world.topic() for _ in world.some(counts)))


def _stateless(world: World, named: Named) -> Subtopologies:
    return [_subtopology("0", source_topics=_sources(world))]


def _stateful(world: World, named: Named) -> Subtopologies:
    changelogs = [_internal(named(f"c{number}")) for number in world.some((1, 1, 2))]
    return [_subtopology("0", source_topics=_sources(world), state_changelog_topics=changelogs)]


def _words(world: World, named: Named) -> Subtopologies:
    """Lines are split into words, which are counted."""
    fixed = world.rng.choice((0, 0, 0, 1, 3))
    totals = _internal(named("totals"), cleanup_policy="compact")
    return [
        _subtopology("0", source_topics=_sources(world), repartition_sink_topics=[named("words")]),
        _subtopology(
            "1",
            repartition_source_topics=[_internal(named("words"), fixed, cleanup_policy="delete")],
            state_changelog_topics=[totals],
        ),
    ]


def _joined(world: World, named: Named) -> Subtopologies:
    """Topics that have to have as many partitions as each other."""
    return [
        _subtopology("0", source_topics=[world.topic()], repartition_sink_topics=[named("left")]),
        _subtopology(
            "1",
            source_topics=[world.topic()],
            repartition_source_topics=[_internal(named("left"), world.rng.choice((0, 0, 0, 2)))],
            state_changelog_topics=[_internal(named("c0"))],
            copartition_groups=_together(0, repartitions=(0,)),
        ),
    ]


def _apart(world: World, named: Named) -> Subtopologies:
    """Subtopologies that have nothing to do with each other, some with state."""
    return [
        _subtopology(
            str(number),
            source_topics=[world.topic()],
            state_changelog_topics=[_internal(named(f"c{number}"))] if world.chance(50) else [],
        )
        for number in world.some((2, 3))
    ]


def _impossible(world: World, named: Named) -> Subtopologies:
    """What no broker takes."""
    topic, (x, y) = world.topic(), (_internal(named("x")), _internal(named("y")))
    first = [topic, "t1~" if topic == "t0~" else "t0~"]
    loop = [
        _subtopology("0", repartition_source_topics=[x], repartition_sink_topics=[y["name"]]),
        _subtopology("1", repartition_source_topics=[y], repartition_sink_topics=[x["name"]]),
    ]
    return world.rng.choice(
        (
            [],
            loop,
            [_subtopology("0")],
            [_subtopology("0", source_topics=[topic], repartition_source_topics=[x])],
            [_subtopology("0", source_topics=[topic], source_topic_regex=["t.*"])],
            [_subtopology("0", source_topics=[topic], state_changelog_topics=[_internal(named("c"), 2)])],
            [_subtopology("0", source_topics=[topic], copartition_groups=_together(4))],
            [_subtopology("0", source_topics=first, copartition_groups=_together(0, 1))],
            [_subtopology("0", source_topics=["__consumer_offsets", topic])],
            [_subtopology("0", source_topics=["a b", ""])],
            [_subtopology("0", source_topics=[topic]), _subtopology("0", source_topics=["t0~"])],
            [_subtopology("0", source_topics=[topic, "missing~", "gone~", "m2~", "m3~"])],
        )
    )


_KINDS: Final[dict[Callable[[World, Named], Subtopologies], int]] = {
    _stateless: 15,
    _stateful: 25,
    _words: 25,
    _joined: 12,
    _apart: 14,
    _impossible: 9,
}
