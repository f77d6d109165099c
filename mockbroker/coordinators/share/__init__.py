"""Share groups (KIP-932): their members, and the states of their share partitions, which are kept by two
coordinators.

The group coordinator (`groups`) knows the members of a share group, shares the partitions of its topics out,
and asks for a state for each partition that the group is to have. The share coordinator (`states`) keeps
these states in `__share_group_state`, and gives them to the leader of a partition, which decides what happens
to its records (`mockbroker.share_partitions`).
"""
