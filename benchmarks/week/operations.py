"""What operators do in an hour, and what goes wrong."""

from mockbroker.controller import elections

from .stage import InMemory, WeekCluster


def configurations(stage: WeekCluster) -> None:
    """Of groups, subscriptions, topics and brokers, set and taken back."""
    for value in ("60000", None):
        operation = 0 if value else 1
        for kind, name, config in (
            (2, "orders", "retention.ms"),
            (4, "1", "log.cleaner.threads"),
            (4, "", "log.retention.ms"),
            (16, f"metrics-{stage.hour}", "interval.ms"),
            (32, f"group-{stage.hour}", "consumer.session.timeout.ms"),
        ):
            given = "2" if config.endswith("threads") and value else value
            change = {"name": config, "config_operation": operation, "value": given}
            resource = {"resource_type": kind, "resource_name": name, "configs": [change]}
            stage.ask(1, "incremental_alter_configs", 1, resources=[resource])
    for kind, name in ((2, "orders"), (4, "1"), (32, f"group-{stage.hour}")):
        asked = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
        stage.ask(1, "describe_configs", 4, resources=[asked], include_synonyms=True)


def faults(stage: WeekCluster) -> None:
    """Faults that hit and are removed, or need not hit."""
    for _ in range(4):
        stage.faults.add("delay", ms=10, api="Metadata")
        stage.faults.add("error", error=3, api="Metadata", times=1, topic="nowhere", optional=True)
        InMemory(stage, 1).send("metadata", 8, {"topics": []})
        stage.pass_ms(20)
        for fault in list(stage.faults.rules):
            stage.faults.remove(fault)


def brokers(stage: WeekCluster) -> None:
    """One is stopped, killed or cut off, and comes back."""
    broker = stage.hour % 3 + 1
    match stage.hour % 5:
        case 0:
            stage.cluster.processes.stop(broker)
        case 1:
            stage.cluster.processes.kill(broker)
        case 2:
            others = [each for each in stage.cluster.brokers if each != broker]
            stage.cluster.network.cut_off(broker, others, from_controller=True)
            stage.write("orders", 0, stage.batch(), acks=1)
            stage.ask(1, "metadata", 8, topics=[{"name": "cut.off"}], allow_auto_topic_creation=True)
            stage.ask(1, "delete_topics", 5, topic_names=["cut.off"], timeout=1000)
        case _:
            for partition in list(stage.cluster.partitions()):
                elections.move_leader(partition)
    stage.pass_ms(60_000)
    stage.cluster.processes.start(broker)
    stage.cluster.network.rejoin(broker)
    stage.pass_ms(60_000)
    for partition in stage.cluster.partitions():
        if partition.leader != partition.replicas[0]:
            elections.move_leader(partition, partition.replicas[0])
