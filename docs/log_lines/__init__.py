"""What brokers and clients may log: `python -m docs.log_lines` takes the statements from their sources, says
which of them the readers know, and writes `pipeline/readers/statements.tsv`.

It needs Maven, Cargo, Go, npm and pip. Run it after a change of the readers' tables or of `rulings.py`.
"""
