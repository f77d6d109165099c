"""Committed offsets: who may commit, how commits are answered, and when offsets expire."""
