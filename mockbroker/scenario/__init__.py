"""Scenarios: TOML files that say what happens to a cluster while a program runs against it."""
