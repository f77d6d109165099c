"""The commands in this process: options that are refused, for example, need none of their own."""

from typer.testing import CliRunner, Result

from mockbroker.cli.app import app


def mockbroker(*words: str) -> Result:
    """What `mockbroker WORDS` prints, and its status. Raises what would be a traceback."""
    return CliRunner().invoke(app, words, catch_exceptions=False)
