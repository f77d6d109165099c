"""Lines that are alike are printed a few times, and then counted."""

import itertools
import logging
import socket

import pytest

from mockbroker import MockCluster
from mockbroker.repeats import MOST_KINDS, PRINTED, Repeats

from .driving.clients import address

Told = list[tuple[str, str, int, float]]


def counting() -> tuple[Repeats, Told]:
    told: Told = []
    return Repeats(lambda *what: told.append(what), itertools.count().__next__), told


def test_lines_that_differ_in_numbers_are_alike() -> None:
    lines, told = counting()
    printed = [n for n in range(1000) if lines.is_new("warning", f"10.0.0.{n}:{n}: closed, {n} bytes")]
    assert printed == list(range(PRINTED))
    assert lines.is_new("warning", "something else")
    assert lines.is_new("error", "10.0.0.1:1: closed, 1 bytes")
    lines.sum_up()
    assert told == [("warning", "10.0.0.999:999: closed, 999 bytes", 1000 - PRINTED, 1.0)]
    lines.sum_up()
    assert len(told) == 1
    assert lines.is_new("warning", "10.0.0.0:0: closed, 0 bytes")


def test_nobody_fills_its_memory() -> None:
    lines, told = counting()
    for number in range(26**3):
        lines.is_new("warning", "".join(chr(97 + number // 26**i % 26) for i in range(3)) + "x" * 1000)
    lines.sum_up()
    [(_, _, count, _)] = told
    assert count == 26**3 - MOST_KINDS - PRINTED


def test_what_is_counted_is_told_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    with MockCluster(brokers=1) as cluster:
        for _ in range(20):
            with socket.create_connection(address(cluster), timeout=60) as client:
                client.sendall(b"\0\0\0\x03abc")
                assert client.recv(1) == b""
    lines = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert len(lines) == PRINTED + 1
    assert "bytes are shorter than a request header (17 like it in " in lines[-1]
