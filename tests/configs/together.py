"""Has the brokers of a release look at configurations that contradict each other, and keeps what they say.

`python -m tests.configs.together 4.4.0` asks what `recorded/RELEASE.json` has, anew. Needs Java, and Maven
for the first run of a release.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from mockbroker.rig.downloads import broker_jars, program

HERE: Final = Path(__file__).parent
RECORDED: Final = HERE / "recorded"
_NEEDED: Final = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
}
Answer = tuple[dict[str, str], str]
"""A configuration, and why brokers do not start with it; empty if they do."""


def recorded(release: str) -> list[Answer]:
    return [(asked, said) for asked, said in json.loads((RECORDED / f"{release}.json").read_text())]


def ask(release: str, questions: list[dict[str, str]]) -> list[Answer]:
    with tempfile.TemporaryDirectory() as folder:
        for number, asked in enumerate(questions):
            lines = [f"{name}={value}\n" for name, value in {**_NEEDED, **asked}.items()]
            (Path(folder) / f"{number}.properties").write_text("".join(lines))
        java = program("java", "ask a broker's code")
        command = [java, "-cp", f"{broker_jars(release)}/*", str(HERE / "Ask.java"), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    answers = [
        line.removeprefix("answer ").strip()
        for line in done.stdout.splitlines()
        if line.startswith("answer ")
    ]
    return list(zip(questions, answers, strict=True))


def write(release: str, answers: list[Answer]) -> None:
    lines = ",\n".join(f" {json.dumps(each)}" for each in answers)
    (RECORDED / f"{release}.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(name, ask(name, [asked for asked, _ in recorded(name)]))
