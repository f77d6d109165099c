"""What the controller tells brokers: a log of Kafka's metadata records, and the image that they make.

Every broker works from the image at an offset of its own; those that have heard everything share one.
"""
