"""Kafka's wire protocol: bytes <-> values, nothing else."""
