"""What bash is told when a command line is to be completed."""

import shlex
from importlib.metadata import entry_points

import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app


def completed(line: str) -> set[str]:
    """`line` is what has been typed, its last word maybe not to its end."""
    words = shlex.split(line + ("''" if line.endswith(" ") else ""))
    environment = {
        "_MOCKBROKER_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = CliRunner(env=environment).invoke(app, [], prog_name="mockbroker")
    assert done.exit_code == 0, done.output
    return set(done.output.split())


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("mockbroker ", {"serve", "ctl", "run", "explore"}),
        ("mockbroker serve --pol", {"--policy"}),
        ("mockbroker serve --kafka 0", {"0.11"}),
        ("mockbroker serve --policy undefined-e", {"undefined-epoch="}),
        ("mockbroker serve --policy undefined-epoch=", {"undefined-epoch=log-end-offset"}),
        ("mockbroker serve --fault disc", {"disconnect"}),
        ("mockbroker ctl bro", {"brokers"}),
        ("mockbroker ctl brokers st", {"start", "stop"}),
        ("mockbroker ctl faults add disc", {"disconnect"}),
        ("mockbroker ctl policies set undefined-epoch=l", {"undefined-epoch=log-end-offset"}),
        ("mockbroker policies --ka", {"--kafka"}),
    ],
)
def test_names_are_completed(line: str, some: set[str]) -> None:
    found = completed(line)
    assert some <= found
    assert all(each.startswith(line.rpartition(" ")[2]) for each in found)


@pytest.mark.parametrize("line", ["mockbroker ctl brokrs st", "mockbroker serve --kafka 9"])
def test_where_there_is_nothing_to_complete(line: str) -> None:
    assert completed(line) == set()


def test_the_shell_calls_the_program_by_that_name() -> None:
    (script,) = (each for each in entry_points(group="console_scripts") if each.name == "mockbroker")
    assert script.value == "mockbroker.cli:main"
