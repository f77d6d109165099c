"""What can be done to the brokers, partitions and followers of a running cluster.

Each verb is defined once, in `table.VERBS`. The control operations, the actions of faults, the methods of
`MockCluster` and the steps of simulated histories are made from it: names, parameters and help.
"""
