"""What users are told of a streams group's members."""

from mockbroker.contents.groups import describe

from .in_memory import in_memory


def test_members_have_their_tasks() -> None:
    with in_memory("described", lines=3) as s:
        s.configure("g", streams_num_standby_replicas="1")
        members = [s.member(each) for each in "AB"]
        for each in members:
            each.join(*s.words())
        s.settle(members)
        cluster = s.brokers.cluster  # type: ignore[attr-defined]
        told = describe(cluster, cluster.brokers[1].groups.groups[s.named("g")]).members
    active = [task for each in told for task in each.active_tasks or ()]
    assert len(active) == len(set(active)) > 1
    assert {task.partition("_")[0] for task in active} == {"0", "1"}
    standby = [set(each.standby_tasks or ()) for each in told]
    assert standby[0]
    assert standby[0] == {task for task in told[1].active_tasks or () if task.startswith("1_")}
    assert standby[1] == {task for task in told[0].active_tasks or () if task.startswith("1_")}
