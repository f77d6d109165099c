"""What can be done to a running cluster's brokers, partitions and followers: each verb stands here once.

The operations of control, what faults do, `MockCluster` and the steps of simulated histories are adapters of
`table.VERBS`: names, parameters and help come from there.
"""
