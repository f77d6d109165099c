"""Streams groups (KIP-1071): the instances of a Kafka Streams application, to which the coordinator assigns
tasks.

Members say by StreamsGroupHeartbeat which topology they run. A task is a subtopology with one partition of
the topics that it reads; there are as many as the largest of these topics has partitions (`configuring`). The
broker creates the repartition and changelog topics that are missing. As in consumer groups, three epochs tell
how far a member is: that of the group, that of the target assignment (`planning`, `assignor`), and its own
(`reconciling`).

Besides the active tasks, which process records, a member may have standby tasks, which only keep a copy of
their state. One process (an instance) may have several members (its threads): it has a task only once.
"""
