"""Groups whose assignments are made by the coordinator (KIP-848).

Nobody waits for the others: each member has its own heartbeats (ConsumerGroupHeartbeat), by which it says
what it subscribes to and which partitions it has, and learns which it is to have. Three epochs tell how far
all of that has come:

- The group's epoch goes up when something changes that the assignment depends on: members, subscriptions,
  topics.
- The epoch of the target assignment follows it once the coordinator has made the assignment (`planning`).
- A member's epoch follows that, once the member has given up what others are to get (`reconciling`).

The coordinator gives a partition to a member only when its earlier owner has said that it gave it up, left,
or was fenced: at no time do two members read one partition. Members get there one by one, and those whose
partitions stay where they are notice nothing. The group is Assigning while the target assignment is older
than the group, Reconciling until all members have the target's epoch, then Stable.

A member is fenced if it is silent for its session timeout, or keeps what it has to give up for longer than
its rebalance timeout. It has to join again with epoch 0 then (UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH). What
the group is stands in `__consumer_offsets`, in a record for each part that changed; a request is answered
once the records before its answer are replicated.
"""
