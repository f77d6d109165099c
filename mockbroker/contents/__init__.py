"""What a cluster holds, as plain values: records, committed offsets, groups, transactions, topics.

Looking changes nothing: no topic is created by it, and no coordinator is started.
"""
