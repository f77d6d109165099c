"""Defects of released clients and brokers, each with a program that shows it: `python -m found list`.

A finding is a folder: `finding.toml` says what it is, `scenario.toml` is the cluster (for `mockbroker run`),
`client.py` the program (`client.cjs` for a client of Node, `Client.java` for that of Java), and
`expected.txt` what the program prints while the defect is there.
"""
