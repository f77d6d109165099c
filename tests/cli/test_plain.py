"""Where `serve` does without typer, it is started as typer would have started it."""

import inspect
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mockbroker.cli.described import SERVE, described
from mockbroker.cli.plain import plain
from mockbroker.cli.serving import LIMITS, SHORT, serve

from ..properties import examples


def read(words: list[str]) -> dict[str, Any] | None:
    """What `serve` gets without typer, with its defaults."""
    found = plain(serve, words, LIMITS, SHORT)
    return None if found is None else {**(serve.__kwdefaults__ or {}), **found}


def read_by_typer(words: list[str]) -> dict[str, Any] | None:
    """What it gets from typer; None if it is not called."""
    got: list[dict[str, Any]] = []

    def keep(**values: Any) -> None:
        got.append(values)

    keep.__signature__ = inspect.signature(serve)  # type: ignore[attr-defined]
    app = typer.Typer(rich_markup_mode=None)
    app.command("serve")(described(keep, SERVE))
    CliRunner().invoke(app, words)
    return got[0] if got else None


OPTIONS = [f"--{name.replace('_', '-')}" for name in SERVE] + [
    "-q",
    "--help",
    "--nothing",
    "-x",
    "--",
    "serve",
]
VALUES = [
    "0",
    "3",
    "-1",
    "65536",
    "007",
    "1_0",
    "٣",
    "4.4",
    "a",
    "a=b",
    "",
    "yes",
    "manual",
    "json",
    "-q",
    "x y",
]
WORDS = st.one_of(
    st.sampled_from(OPTIONS),
    st.tuples(st.sampled_from(OPTIONS), st.sampled_from(VALUES)).map("=".join),
    st.tuples(st.sampled_from(OPTIONS), st.sampled_from(VALUES)).map(shlex.join),
)


@given(st.lists(WORDS, max_size=6))
@settings(max_examples=examples(300))
def test_what_is_read_is_what_typer_reads(options: list[str]) -> None:
    words = [word for option in options for word in (shlex.split(option) if " " in option else [option])]
    found = read(words)
    assert found is None or found == read_by_typer(words)


PLAIN = [
    "",
    "-q",
    "--quiet --brokers 1 --port 0",
    "--kafka=2.3 --topic a:3 --topic b --config x=y --policy p=q --fixed yes --seed 7",
    "--control 0 --console --control-token abc --log json --clock manual",
    "--trace a.parquet --capture b --overwrite --offsets one --offsets two --rack 1=a --now wall",
    "--fault 'disconnect api=Produce' --advertise host:9 --host ::1",
]


@pytest.mark.parametrize("line", PLAIN)
def test_what_is_usual_is_read_without_typer(line: str) -> None:
    words = shlex.split(line)
    found = read(words)
    assert found is not None
    assert found == read_by_typer(words)


def test_files_are_paths() -> None:
    found = read(["--offsets", "a", "--offsets=b", "--trace", "c"])
    assert found is not None
    assert (found["offsets"], found["trace"]) == ([Path("a"), Path("b")], Path("c"))


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--brokers 0",
        "--port 65536",
        "--port ten",
        "--port",
        "--kafka 3.9 --kafka 4.4",
        "--fixed perhaps",
        "--quiet=1",
        "--ports 1",
        "more",
        "-- --quiet",
    ],
)
def test_what_needs_a_word_is_left_to_typer(line: str) -> None:
    assert read(shlex.split(line)) is None


def test_every_parameter_is_described() -> None:
    assert list(SERVE) == [name for name in serve.__annotations__ if name != "return"]
