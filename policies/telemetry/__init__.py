"""Metrics that clients push."""
