"""Searches what clusters and clients left behind for the signatures of known behaviours, on Spark."""
