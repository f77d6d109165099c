"""`python -m mockbroker.conformance`: what `mockbroker conformance` is."""

from .commands import app

app(prog_name="mockbroker conformance")
