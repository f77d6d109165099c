"""`python -m mockbroker.conformance` does the same as `mockbroker conformance`."""

from .commands import app

app(prog_name="mockbroker conformance")
