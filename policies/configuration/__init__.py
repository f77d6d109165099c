"""Describing configuration, and altering it."""
