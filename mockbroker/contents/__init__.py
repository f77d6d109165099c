"""What a cluster holds, as plain values: records, committed offsets, groups, transactions, topics.

Looking changes nothing: no topic is created for it, and no coordinator begins its work.
"""
