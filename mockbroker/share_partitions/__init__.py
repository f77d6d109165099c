"""Share partitions (KIP-932): which records of a partition a share group has, and what became of them.

Decides, and does nothing else: it is given the time and the offsets of fetched batches, and gives back what
was acquired and what the share coordinator has to write. Begin with `states`."""
