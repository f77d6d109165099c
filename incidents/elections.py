"""Incidents of leaders: records that an election loses, and a leader that does not know that it is none."""

from .stage import IncidentStage, StoryError, story


@story("unclean-election", twin={})
async def unclean_election(stage: IncidentStage) -> None:
    """A replica is out of the ISR for maintenance; the last leader dies, and that replica is elected. In the
    twin it is in sync again when the leader dies."""
    await stage.create("orders", replicas=[2, 3], unclean_leader_election_enable="true")
    await stage.groups(["orders"])
    for library in ("java", "confluent-kafka"):
        await stage.clients.send(library, "orders", 0, 500)
    await stage.caught_up("orders")
    kept = await stage.do(stage.admin.offset, "orders")
    await stage.stop(3)
    await stage.until("an ISR of broker 2", lambda: stage.admin.state("orders").in_sync == (2,))
    for library in ("java", "confluent-kafka", "kafka-python"):
        await stage.clients.send(library, "orders", 0, 500)
    await stage.caught_up("orders")
    end = await stage.do(stage.admin.offset, "orders")
    if not stage.caused:
        await stage.start(3)
        await stage.until("both in sync", lambda: stage.admin.state("orders").in_sync == (2, 3))
    await stage.do(stage.cluster.kill_broker, 2)
    stage.did("a broker was killed", broker=2)
    if stage.caused:
        await stage.start(3)
    await stage.led("orders", 3)
    if stage.caused:
        state = await stage.do(stage.admin.state, "orders")
        stage.did(
            "an out-of-sync replica was elected",
            topic="orders",
            partition=0,
            broker=3,
            leader_epoch=state.epoch,
            offset=kept,
            lost=end - kept,
        )
    await stage.clients.send("java", "orders", 0, 200)
    await stage.caught_up("orders")
    await stage.start(2)
    await stage.until("the old leader to follow", lambda: stage.admin.state("orders").in_sync == (2, 3))
    await stage.clients.send("java", "orders", 0, 100)
    await stage.caught_up("orders")
    stage.jumps("orders")


@story("cut-off-leader", twin={})
async def cut_off_leader(stage: IncidentStage) -> None:
    """A leader that reaches neither the controller nor its followers goes on taking records with acks=1."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.groups(["orders"])
    loyal = await stage.clients.producer("java", acks="1", enable_idempotence=False)
    await loyal.send("orders", 0, 500)
    await stage.caught_up("orders")
    if stage.caused:
        stage.cluster.cut_off(2)
        stage.did("a broker was cut off", broker=2)
        await stage.until("another leader", lambda: stage.admin.states("orders", 1)[0].leader not in (2, -1))
        state = stage.admin.states("orders", 1)[0]
        stage.did("another leader was elected", broker=state.leader, leader_epoch=state.epoch, offset=500)
    last = await loyal.send("orders", 0, 300)
    if stage.caused:
        if await stage.do(stage.admin.offset, "orders", node=state.leader) != 500:
            raise StoryError("the records went to the new leader")
        stage.did("the old leader took records", broker=2, offset=500, end_offset=last + 1)
        stage.cluster.reconnect(2)
        stage.did("the broker was connected again", broker=2, lost=last + 1 - 500)
    await stage.in_sync("orders")
    await stage.clients.send("confluent-kafka", "orders", 0, 100)
    await stage.caught_up("orders")
    stage.jumps("orders")


@story("unreplicated-tail-lost", twin={})
async def leader_died_with_acks_one(stage: IncidentStage) -> None:
    """A leader dies before its followers have what it has acknowledged with acks=1. One that is in sync is
    elected, without these records."""
    await stage.create("orders", replicas=[2, 3])
    await stage.groups(["orders"])
    producer = await stage.clients.producer("java", acks="1", enable_idempotence=False)
    await producer.send("orders", 0, 500)
    await stage.caught_up("orders")
    if stage.caused:
        await stage.do(stage.cluster.hold, 3)
    last = await producer.send("orders", 0, 300)
    if stage.caused:
        await stage.do(stage.cluster.kill_broker, 2)
        stage.did("a broker was killed", broker=2, topic="orders", partition=0, end_offset=last + 1)
        stage.cluster.let_go(3)
    else:
        await stage.caught_up("orders")
        await stage.do(stage.cluster.kill_broker, 2)
        stage.did("a broker was killed", broker=2)
    await stage.led("orders", 3)
    state = await stage.do(stage.admin.state, "orders")
    kept = await stage.do(stage.admin.offset, "orders")
    if stage.caused:
        if not 500 <= kept < last + 1:
            raise StoryError(f"the next leader has all up to {kept}")
        stage.did(
            "a replica in sync was elected",
            topic="orders",
            partition=0,
            broker=3,
            leader_epoch=state.epoch,
            offset=kept,
            lost=last + 1 - kept,
        )
    await stage.clients.send("confluent-kafka", "orders", 0, 100)
    await stage.start(2)
    await stage.until("the old leader to follow", lambda: stage.admin.state("orders").in_sync == (2, 3))
    await stage.clients.send("confluent-kafka", "orders", 0, 100)
    await stage.caught_up("orders")
    stage.jumps("orders")
