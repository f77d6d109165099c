"""What users are told of a streams group's members."""

from mockbroker.contents.groups import describe
from mockbroker.rig.setup import BROKER_CONFIG, STREAMS_CONFIG
from mockbroker.rig.stories import Setting

from ..driving.brokers import InMemoryBrokers
from .stage import StreamsStage


def test_members_have_their_tasks() -> None:
    brokers = InMemoryBrokers("4.4.0", Setting(1, {**BROKER_CONFIG, **STREAMS_CONFIG}))
    s = StreamsStage(brokers, "described")
    s.begin()
    s.topic("lines", 3)
    s.configure("g", streams_num_standby_replicas="1")
    members = [s.member(each) for each in "AB"]
    for each in members:
        each.join(*s.words())
    s.settle(members)
    group = brokers.cluster.brokers[1].groups.groups[s.named("g")]
    told = describe(brokers.cluster, group).members
    active = [task for each in told for task in each.active_tasks or ()]
    assert len(active) == len(set(active)) > 1
    assert {task.partition("_")[0] for task in active} == {"0", "1"}
    standby = [set(each.standby_tasks or ()) for each in told]
    assert standby[0]
    assert standby[0] == {task for task in told[1].active_tasks or () if task.startswith("1_")}
    assert standby[1] == {task for task in told[0].active_tasks or () if task.startswith("1_")}
