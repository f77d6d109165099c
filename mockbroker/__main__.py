"""`python -m mockbroker`."""

from .cli import main

main()
