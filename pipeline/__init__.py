"""Searches what clusters and clients left behind for signatures of known behaviours, with Spark."""
