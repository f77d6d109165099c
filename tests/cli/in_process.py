"""The commands in this process: options that are refused, for example, need none of their own."""

from collections.abc import Mapping

from typer.testing import CliRunner, Result

from mockbroker.cli.app import app


def mockbroker(*words: str, environment: Mapping[str, str | None] | None = None) -> Result:
    """What `mockbroker WORDS` prints, and its status. Raises what would be a traceback. None takes a variable
    out of the environment."""
    return CliRunner().invoke(app, words, env=environment, catch_exceptions=False)
