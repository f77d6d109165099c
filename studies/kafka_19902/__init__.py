"""KAFKA-19902 with real consumers: what makes one reset its position, to where, and what prevents it."""
