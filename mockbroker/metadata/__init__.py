"""What the controller tells brokers: a log of Kafka's metadata records, and the image that they make.

Each broker works from the image at its own offset; brokers that have learned everything share one image.
"""
