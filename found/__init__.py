"""Defects of released clients and brokers, each with a program that shows it: `python -m found list`.

A finding is a folder: `finding.toml` says what it is, `scenario.toml` is the cluster (for `mockbroker
run`), `client.py` (`client.cjs` for a client of Node, `client.go`, `client.rs`, `Client.java`) the program,
and `expected.txt` what it prints while the defect is there.
"""
