"""Committed offsets: who may commit, what is answered, when they expire."""
