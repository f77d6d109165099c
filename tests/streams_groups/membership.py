"""Members of streams groups: they join, are assigned tasks and leave."""

from typing import Any

from mockbroker.rig.stories import Steps

from .stage import StreamsStage


def joining(s: StreamsStage) -> Steps:
    """A member joins, stays and leaves."""
    s.topic("lines", 2)
    one = s.member()
    yield "no such group", s.described()
    yield "internal topics are missing", one.join(*s.words())
    yield "described at once", s.described()
    yield "tasks", one.run(*s.words())
    yield "described", s.described()
    yield "described with operations", s.described(include_authorized_operations=True)
    yield "again", one.beat()
    yield "nothing said", one.ask(one.epoch)
    yield "joins again", one.join(*s.words())
    yield "leaves", one.leave()
    yield "described, empty", s.described()
    yield "leaves again", one.leave()
    yield "beats on", one.ask(2)
    yield "joins once more", one.join(*s.words())
    yield "state", s.state()


def listing(s: StreamsStage) -> Steps:
    """ListGroups and DescribeGroups."""
    s.topic("lines")
    one = s.member()
    one.run(*s.words())
    for types, states in ((["streams"], []), (["Streams"], ["stable"]), (["consumer"], []), ([], ["Empty"])):
        found = s.say("list_groups", {"types_filter": types, "states_filter": states})["groups"]
        yield f"{types} {states}", [each for each in found if each["group_id"] == s.named("g")]
    yield "as a classic group", s.say("describe_groups", {"groups": [s.named("g")]})["groups"]
    yield "as a consumer group", s.say("consumer_group_describe", {"group_ids": [s.named("g")]})["groups"]
    yield "no group id", s.described("")[0]["error_code"]
    deleting = {"groups_names": [s.named("g")]}
    yield "can't be deleted", s.say("delete_groups", deleting)
    one.leave()
    yield "deleted", s.say("delete_groups", deleting)
    yield "gone", s.described()


def epochs(s: StreamsStage) -> Steps:
    """Heartbeats with the wrong epoch."""
    s.topic("lines")
    one = s.member()
    one.run(*s.words())
    now = one.epoch
    for label, epoch in (("next", now + 1), ("far ahead", now + 100), ("before", now - 1), ("-3", -3)):
        yield label, one.ask(epoch)
    yield "as it was", one.ask(now)
    owned = dict(one.owned)
    yield "before, with its tasks", one.ask(now - 1, **owned)
    yield "leaves with -2", one.ask(-2)
    yield "state", s.state()


def unknown_members(s: StreamsStage) -> Steps:
    """Heartbeats of members that are not there."""
    s.topic("lines")
    one, two = s.member(), s.member("B")
    yield "no group, beats", one.ask(1)
    yield "no group, leaves", one.leave()
    yield "no group after that", s.described()
    one.run(*s.words())
    yield "beats", two.ask(1)
    yield "leaves", two.leave()


def wrong_fields(s: StreamsStage) -> Steps:
    """Requests that no broker takes."""
    s.topic("lines")
    one, words = s.member(), s.words()
    yield "no group id", one.join(*words, group_id="")
    yield "blank group id", one.join(*words, group_id=" ")
    yield "no member id", one.join(*words, member_id="")
    yield "blank member id", one.join(*words, member_id=" ")
    yield "empty rack", one.join(*words, rack_id="")
    yield "no rebalance timeout", one.join(*words, rebalance_timeout=-1)
    yield "no topology", one.join(topology=None)
    for kind in ("active_tasks", "standby_tasks", "warmup_tasks"):
        fields: dict[str, Any] = {kind: None}
        yield f"no {kind}", one.join(*words, **fields)
        fields[kind] = [{"subtopology_id": "0", "partitions": [0]}]
        yield f"some {kind}", one.join(*words, **fields)
    yield "no such group after that", s.described()
    one.run(*words)
    yield "topology later", one.beat(topology={"epoch": 0, "subtopologies": words})
    yield "active tasks only", one.ask(one.epoch, active_tasks=[])
    yield "unknown subtopology", one.beat(active_tasks=[{"subtopology_id": "7", "partitions": [0]}])
    yield "unknown task", one.beat(active_tasks=[{"subtopology_id": "0", "partitions": [0, 1]}])
    yield "negative task", one.beat(standby_tasks=[{"subtopology_id": "0", "partitions": [-1]}])
    yield "as it was", one.beat()


def several_members(s: StreamsStage) -> Steps:
    """How tasks are shared out among processes, and given up."""
    s.topic("lines", 4)
    members: list[Any] = []
    for letter in "ABCDE":
        members.append(s.member(letter))
        members[-1].join(*s.words())
        yield f"{len(members)} members", s.settle(members)
    for each in members[:2]:
        each.leave()
    yield "two left", s.settle(members[2:])


def threads(s: StreamsStage) -> Steps:
    """Several members of a process."""
    s.topic("lines", 6)
    members: list[Any] = []
    for letter, process in (("A", "P"), ("B", "P"), ("C", "Q")):
        members.append(s.member(letter, process=process))
        members[-1].join(*s.words())
        yield f"{len(members)} members", s.settle(members)
    members.pop(0).leave()
    yield "one left", s.settle(members)


def standbys(s: StreamsStage) -> Steps:
    """Copies of tasks that have state."""
    s.topic("lines", 4)
    yield "configured", s.configure("g", streams_num_standby_replicas="1")
    members: list[Any] = []
    for letter in "ABC":
        members.append(s.member(letter))
        members[-1].join(*s.words())
        yield f"{len(members)} members", s.settle(members)
    members.pop(1).leave()
    yield "one left", s.settle(members)
    yield "two copies", s.configure("g", streams_num_standby_replicas="2")
    yield "begins an epoch", members[0].beat()["status"]
    yield "no more processes", s.settle(members)
    yield "none", s.configure("g", streams_num_standby_replicas="0")
    members[0].beat()
    yield "no copies", s.settle(members)


def moving(s: StreamsStage) -> Steps:
    """What a member is told while tasks move."""
    s.topic("lines", 2)
    one, two = s.member(), s.member("B")
    one.run(*s.words())
    yield "another joins", two.join(*s.words())
    yield "it waits", two.beat()
    yield "the first has to give up", one.ask(one.epoch)
    yield "described", s.described()
    yield "it still has them", one.ask(one.epoch)
    yield "it has given up", one.beat()
    yield "the other gets them", two.beat()
    yield "stable", s.state()


def delayed(s: StreamsStage) -> Steps:
    """The first member of a group waits for others."""
    s.topic("lines", 2)
    yield "configured", s.configure("g", streams_initial_rebalance_delay_ms="1500")
    one, two = s.member(), s.member("B")
    yield "the first", one.join(*s.words())
    yield "the second", two.join(*s.words())
    yield "state", s.state()
    yield "both have tasks", s.settle([one, two])
    yield "state", s.state()


def shutdown(s: StreamsStage) -> Steps:
    """A member asks for all to shut down."""
    s.topic("lines")
    one, two = s.member(), s.member("B")
    one.run(*s.words())
    two.join(*s.words())
    s.settle([one, two])
    yield "asks for it", one.beat(shutdown_application=True)
    yield "the other hears of it", two.beat()
    yield "the other asks, too", two.beat(shutdown_application=True)
    yield "leaves", one.leave()
    yield "joins again", one.join(*s.words())["status"]
    yield "leaves and asks", one.leave(shutdown_application=True)
    two.leave()
    yield "forgotten", one.join(*s.words())["status"]


def endpoints(s: StreamsStage) -> Steps:
    """Where processes can be asked for what they keep."""
    s.topic("lines", 2)
    one, two = s.member(), s.member("B")
    here, there = {"host": "here", "port": 1}, {"host": "there", "port": 65535}
    yield "joins", one.join(*s.words(), user_endpoint=here)
    yield "tasks", one.run(*s.words(), user_endpoint=here)
    yield "nothing new", one.beat(endpoint_information_epoch=1)
    yield "an old epoch", one.beat()
    yield "another joins", two.join(*s.words(), user_endpoint=there)
    s.settle([one, two])
    yield "all", one.beat()["partitions_by_user_endpoint"]
    yield "described", [each["user_endpoint"] for each in s.described()[0]["members"]]


def described_fields(s: StreamsStage) -> Steps:
    """What a member says of itself."""
    s.topic("lines")
    one = s.member()
    tags = [{"key": "zone", "value": "a"}, {"key": "cluster", "value": "b"}]
    one.run(*s.words(), rack_id="r", client_tags=tags)
    yield "described", s.described()
    yield "another rack", one.beat(rack_id="s")
    yield "other tags", one.beat(client_tags=[])
    yield "another process", one.beat(process_id="p")
    yield "another timeout", one.beat(rebalance_timeout=1)
    yield "the same again", one.beat(rack_id="s")
    yield "described again", s.described()


def static_members(s: StreamsStage) -> Steps:
    """Members with an instance id."""
    s.topic("lines", 2)
    one, two = s.member(), s.member("B")
    yield "joins", one.join(*s.words(), instance_id="i")
    yield "state", s.described()[0]["group_state"] if one.epoch else None
    if not one.epoch:
        return
    s.settle([one])
    yield "described", s.described()
    yield "another of that name", two.join(*s.words(), instance_id="i")
    yield "leaves for a while", one.ask(-2, instance_id="i")
    yield "described without it", s.described()
    yield "comes back", two.join(*s.words(), instance_id="i")
    yield "described again", s.described()
    yield "the earlier one beats", one.ask(one.epoch, instance_id="i")
    yield "without its name", two.ask(two.epoch)
    yield "unknown name", two.ask(two.epoch, instance_id="j")
    yield "leaves", two.ask(-1, instance_id="i")
    yield "gone", s.described()


def client_tags(s: StreamsStage) -> Steps:
    """Tags that members are to have, so that copies of tasks can be placed by them."""
    s.topic("lines", 2)
    configured = s.configure("g", streams_rack_aware_assignment_tags="zone,cluster")
    yield "configured", configured
    if configured["error_code"] != "NONE":
        return
    here = [{"key": "zone", "value": "a"}]
    one, two = s.member(), s.member("B")
    yield "one tag is missing", one.join(*s.words(), client_tags=here)["status"]
    s.settle([one])
    yield "told again", one.beat()["status"]
    yield "none is missing", one.beat(client_tags=[*here, {"key": "cluster", "value": ""}])["status"]
    two.join(*s.words())
    yield "tasks", s.settle([one, two])
    s.configure("g", streams_rack_aware_assignment_tags="zone")
    yield "begins an epoch", one.beat()["status"]
    yield "state", s.state()
    yield "two tags of one key", one.beat(client_tags=[*here, *here])["error_code"]
    yield "as it was", s.state()


def roles(s: StreamsStage) -> Steps:
    """A task that an instance has changes its role there."""
    s.topic("lines", 1)
    s.configure("g", streams_num_standby_replicas="1")
    one, two = s.member(), s.member("B")
    topology = [s.reading("lines", state_changelog_topics=[s.internal("totals")])]
    one.run(*topology)
    two.join(*topology)
    yield "a copy", s.settle([one, two])
    one.leave()
    yield "becomes active", two.beat()
    yield "state", s.state()
    one.join(*topology)
    yield "stays", s.settle([one, two])


def reachable_without_topics(s: StreamsStage) -> Steps:
    """An instance can be asked for what it keeps, but its topics are not there."""
    here = {"host": "here", "port": 1}
    one, two = s.member(), s.member("B")
    yield "joins", one.join(*s.words(), user_endpoint=here)
    yield "no such group", s.described()
    two.join(*s.words())
    yield "joins another", one.join(*s.words(), user_endpoint=here)
    yield "nothing has changed", s.state()
    s.topic("lines", 1)
    s.topic("pairs", 2)
    yield "without that", two.beat()["status"][0]["status_code"]
    three = s.member("C", "h")
    three.run(s.reading("lines", "pairs"), user_endpoint=here)
    yield "a small topic", s.member("D", "h").join(s.reading("lines", "pairs"))["partitions_by_user_endpoint"]
    yield "joins again", three.join(s.reading("lines", "pairs"))["partitions_by_user_endpoint"]
    yield "negative epoch", s.member("A", "k").join(s.reading("lines"), epoch=-1)["error_code"]
    for state in ("NotReady", "not_ready"):
        found = s.say("list_groups", {"types_filter": [], "states_filter": [state]})["groups"]
        yield f"listed {state}", [each for each in found if each["group_id"] == s.named("g")]


def task_offsets(s: StreamsStage) -> Steps:
    """How far members are with the state of tasks."""
    s.topic("lines", 2)
    one = s.member()
    some = [{"subtopology_id": "1", "partition": 0, "offset": 5}]
    yield "joins", one.join(*s.words(), task_offsets=some, task_end_offsets=some)
    if not one.epoch:
        return
    s.settle([one])
    yield "described", s.described()[0]["members"]
    more = [{"subtopology_id": "1", "partition": 1, "offset": 7}]
    yield "others", one.beat(task_offsets=more, task_end_offsets=more)
    yield "described with others", s.described()[0]["members"]
    yield "offsets only", one.beat(task_offsets=some)
    unknown = [{"subtopology_id": "9", "partition": 0, "offset": 5}]
    yield "of an unknown task", one.beat(task_offsets=unknown, task_end_offsets=unknown)
    yield "state", s.state()
