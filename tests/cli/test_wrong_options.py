"""What is wrong with a command line is said in one line, with what would be right."""

import shlex
import sys

import pytest

from tests.cli.in_process import mockbroker

PRINTS = shlex.quote(f"{shlex.quote(sys.executable)} -c 'print(42)'")
WRONG = {
    "serve --port 0": {
        "--kafka 9.9": "choose one of 0.11",
        "--policy undefined-epoch": "write it as NAME=VALUE",
        "--policy undefined-epoch=x": "choose one of log-end-offset, undefined",
        "--topic t:x": "write it as NAME or NAME:PARTITIONS",
        "--config no.such.config=1": "no.such.config",
        "--config num.partitions=many": "num.partitions",
        "--rack eu=1": "write it as BROKER=RACK",
        "--rack 4=eu": "choose 1 to 3",
        "--offsets README.md": "README.md shows nothing of the offsets topic: give segments",
        "--now soon": "the cluster's time can't begin at 'soon': give a time such as",
        "--host 203.0.113.1": "can't listen on 203.0.113.1",
    },
    "explore --seeds 1": {
        "--policy fetch-log-start-ofset=live": "did you mean 'fetch-log-start-offset'",
        "--policy fetch-log-start-offset=alive": "no answer 'alive'",
        "--kafka 9.9": "no Kafka release '9.9'",
        "--commit no-epochs": "did you mean 'no-epoch'",
        "--reset first": "earliest, latest, none",
        "--producer 2.4": "'2.4' is not known",
        "--policy fetch-log-start-offset": "write it as NAME=VALUE",
        "--expressions --no-consumer-groups": "--expressions contradicts --no-consumer-groups",
        "--consumer-groups --kafka 3.6": "brokers of 3.6 have no consumer groups: only since 3.7",
        "--newer-commits --no-offsets-topic": "--newer-commits contradicts --no-offsets-topic",
    },
    "check": {
        "--client confluent": "no client 'confluent': did you mean 'confluent-kafka'?",
        "": "which client? Give --client NAME or --client-command COMMAND",
        "--client-command no-such-program": "no-such-program: No such file or directory",
        "--client aiokafka --only retenton": "no scenario 'retenton': did you mean 'retention'?",
        "--client aiokafka --kafka 9.9": "9.9",
        "--client aiokafka --kafka ,": "which releases? Give --kafka R,R,…",
        "--client aiokafka --policy compaction=ded": "did you mean 'dead'?",
        "--client aiokafka --policy compaction": "write it as NAME=VALUE",
        "--client-command x --client-version 1": "a driver of your own has no versions",
    },
    "hunt --seeds 1": {
        "--client confluent": "no client 'confluent': did you mean 'confluent-kafka'?",
        "": "which client? Give --client NAME, --client-command COMMAND or --application COMMAND",
        "--client-command no-such-program": "no-such-program: No such file or directory",
        f"--client-command {PRINTS}": "ended with status 0; its last output:\n42",
        "--client-command x --versions 1,2": "a driver of your own has no versions",
        "--client aiokafka --plan nowhere.json": "nowhere.json: No such file or directory",
        f"--client aiokafka --plan {__file__}": "is not a plan of mockbroker hunt",
    },
    "hunt --seeds 1 --application no-such-program": {
        "": "which topics does the application read? Give --input TOPIC",
        "--input in --output out --client java": "a client or an application?",
        "--input in --output out --versions 1": "an application has no versions",
        "--input in --output out": "no-such-program: No such file or directory",
    },
}
"""What each command says of options."""


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [(command, *each) for command, all_said in WRONG.items() for each in all_said.items()],
)
def test_a_wrong_option_is_one_line_that_says_what_to_do(command: str, options: str, said: str) -> None:
    done = mockbroker(*shlex.split(command), *shlex.split(options))
    assert done.exit_code == 2, done.stdout
    assert said in done.stderr
    # Those that start a client may tell first that they build it, and show what it printed.
    if not command.startswith(("check", "hunt")):
        assert done.stderr.startswith(f"mockbroker {command.split()[0]}: ")
        assert len(done.output.splitlines()) == 1
