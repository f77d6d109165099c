"""What CONTRIBUTING promises: an API is two files, a behaviour and a fault are one each.

Added to a tree of links, they are served, and listed in help, reference and names.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from docs import draft
from mockbroker.protocol.api_keys import ApiKey

ROOT = Path(__file__).parent.parent


class Tree:
    """The project, to which files can be added without changing it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open(folder, ROOT)

    def _open(self, folder: Path, original: Path) -> None:
        folder.mkdir(exist_ok=True)
        for each in original.iterdir():
            if each.name != "__pycache__":
                (folder / each.name).symlink_to(each.resolve())

    def add(self, path: str, text: str) -> None:
        folder = self.folder
        for name in Path(path).parts[:-1]:
            folder /= name
            if folder.is_symlink():
                original = folder.resolve()
                folder.unlink()
                self._open(folder, original)
        (folder / Path(path).name).unlink(missing_ok=True)
        (folder / Path(path).name).write_text(text)

    def run(self, program: str) -> list[str]:
        """The lines that it prints."""
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(self.folder),
                "PYTHONDONTWRITEBYTECODE": "1",
                "COLUMNS": "200",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree")


POLICY = '''
"""`greeting`: what a broker says to begin with.

Clients see nothing of it.
"""

from typing import Final, Literal

from ..behaviour import Switch

greeting: Final = Switch[Literal["loud", "silent"]](
    name="greeting",
    summary="whether a broker greets",
    answers={"loud": True, "silent": False},
    history=(("0.11", "silent"), ("4.0", "loud")),
)
'''


def test_a_behaviour_is_one_file(tree: Tree) -> None:
    tree.add("mockbroker/policies/topics/greeting.py", POLICY)
    assert tree.run(
        """
        import sys
        from docs import generate, names
        from mockbroker import MockCluster
        from mockbroker.cli import main
        from mockbroker.policies.topics.greeting import greeting

        with MockCluster(kafka="4.4", policies={"greeting": "silent"}) as cluster:
            print(cluster.policies.answer("greeting"))
        print("## greeting" in generate.text("reference/policies.md").splitlines())
        print('"greeting",' in names.text(), "\\"greeting\\": \\"Literal['loud', 'silent']" in names.text())
        sys.argv = ["mockbroker", "policies", "greeting"]
        main()
        """
    ) == [
        "silent",
        "True",
        "True True",
        "Behaviours, and their answers (* under Kafka 4.4)",
        "",
        "greeting",
        "  whether a broker greets",
        "  * loud: 4.0 and later",
        "    silent: 0.11 to 3.9",
    ]


def test_an_api_is_two_files(tree: Tree) -> None:
    """Drafted ones: the answer is empty, and an error in place of the work has what the model declares."""
    api = ApiKey.REMOVE_RAFT_VOTER.name.lower()
    codes = '    top_retry="NOT_CONTROLLER",\n    top="VOTER_NOT_FOUND"'
    handler = draft.handler(api).replace('    top="CLUSTER_AUTHORIZATION_FAILED"', codes)
    handler = handler.replace("changes=False", "changes=True").replace('VoterRequest"', 'Voter"')
    tree.add(f"mockbroker/protocol/messages/{api}.py", draft.messages(api))
    tree.add(f"mockbroker/apis/{api}.py", handler)
    assert tree.run(
        """
        from docs import generate, names
        from mockbroker import MockCluster
        from mockbroker.faults import FaultError
        from mockbroker.rig.client import Client

        with MockCluster(kafka="4.4") as cluster:
            host, port = cluster.bootstrap_servers.split(",")[0].split(":")
            with Client(host, int(port)) as client:
                print(client.api_versions()["remove_raft_voter"])
                print(client.call("remove_raft_voter", 0, {"voter_id": 7})["error_code"])
                cluster.faults.add("error", api="RemoveRaftVoter", error="NOT_CONTROLLER")
                print(client.call("remove_raft_voter", 0, {"voter_id": 7})["error_code"])
            try:
                cluster.faults.add("disconnect", api="RemoveRaftVote")
            except FaultError as error:
                print(error)
        apis = generate.text("reference/apis.md").splitlines()
        print([line for line in apis if line.startswith("| 81 |")][0][-6:])
        codes = generate.text("reference/error-codes.md").splitlines()
        print(*codes[codes.index("## RemoveRaftVoter") :][2:5], sep="|")
        print('"RemoveRaftVoter",' in names.text())
        """
    ) == [
        "(0, 0)",
        "NONE",
        "NOT_CONTROLLER",
        "no API 'RemoveRaftVote': did you mean 'RemoveRaftVoter'?",
        " | 0 |",
        "- top: **NOT_CONTROLLER**, VOTER_NOT_FOUND||Source: KafkaApis.handleRemoveRaftVoter.",
        "True",
    ]


FAULT = '''
"""An action by which a broker is rude."""

from dataclasses import dataclass

from ...outcome import CLOSE
from ..exchange import Exchange
from ..match import Match
from .action import Action, When, action


@action("hang-up")
@dataclass
class HangUp(Action):
    """The broker hangs up."""

    loudly: bool = False
    when = ("instead",)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        exchange.end(CLOSE)
        return True
'''


def test_a_fault_is_one_file(tree: Tree) -> None:
    tree.add("mockbroker/faults/actions/rude.py", FAULT)
    assert tree.run(
        """
        from docs import generate, names
        from mockbroker import MockCluster
        from mockbroker.control.openapi import document
        from mockbroker.control.table import OPERATIONS
        from mockbroker.rig.client import Client, DisconnectedError

        with MockCluster() as cluster:
            fault = cluster.faults.add("hang-up", loudly=True)
            host, port = cluster.bootstrap_servers.split(",")[0].split(":")
            with Client(host, int(port)) as client:
                try:
                    client.call("api_versions", 3, {})
                except DisconnectedError:
                    print(fault.hits)
        faults = generate.text("reference/faults.md").splitlines()
        print(*faults[faults.index("## hang-up") :][2:6], sep="|")
        print('"hang-up",' in names.text(), "    loudly: bool" in names.text().splitlines())
        print("hang-up" in str(document(OPERATIONS.values())))
        """
    ) == [
        "1",
        "The broker hangs up.||`when`: instead.|`loudly`: bool, False if left out.",
        "True True",
        "True",
    ]
