"""How the page's files are served."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message

import pytest

from mockbroker import MockCluster
from mockbroker.console.files import FOLDER
from mockbroker.errors import ConflictError, OptionError


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    with MockCluster(console=True) as running:
        yield running


def got(url: str, **headers: str) -> tuple[int, Message, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def test_every_file_of_the_page(cluster: MockCluster) -> None:
    for file in FOLDER.rglob("*"):
        if file.suffix in (".html", ".js", ".css", ".svg", ".json", ".jsonl"):
            status, headers, body = got(cluster.console_url + str(file.relative_to(FOLDER)))
            assert (status, body) == (200, file.read_bytes())
            assert "default-src 'self'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
    assert got(cluster.console_url)[2] == (FOLDER / "index.html").read_bytes()
    assert got(cluster.console_url.rstrip("/"))[2] == (FOLDER / "index.html").read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "nothing.js",
        "../files.py",
        "..%2ffiles.py",
        "vendor",
        "vendor/LICENSE-htm",
        "stories/",
        "%2fetc/passwd.js",
    ],
)
def test_nothing_else_is_there(cluster: MockCluster, path: str) -> None:
    assert got(cluster.console_url + path)[0] == 404


def test_pages_of_others_get_nothing(cluster: MockCluster) -> None:
    assert got(cluster.console_url, Origin="http://evil.example")[0] == 403
    assert got(cluster.console_url, **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert got(cluster.console_url, Host="evil.example")[0] == 403


def test_the_files_need_no_token_but_the_cluster_does() -> None:
    with MockCluster(console=True, control_token="s3cret") as cluster:
        assert got(cluster.console_url + "app.js")[0] == 200
        assert got(cluster.control_url + "/brokers")[0] == 401
        assert got(cluster.control_url + "/console/../brokers")[0] == 404
        assert got(cluster.control_url + "/console/%2e%2e/brokers")[0] == 404


def test_without_the_option_there_is_no_page() -> None:
    with MockCluster(control=True) as cluster:
        assert got(cluster.control_url + "/console/")[0] == 404
        with pytest.raises(ConflictError, match="console=True"):
            cluster.console_url  # noqa: B018


def test_without_the_option_nothing_of_it_is_loaded() -> None:
    program = """
import sys
from mockbroker import MockCluster
with MockCluster(control=True, topics={"orders": 1}) as cluster:
    cluster.produce("orders", "v")
assert "mockbroker.console" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_it_needs_can_not_be_switched_off() -> None:
    with pytest.raises(OptionError, match="the console needs"):
        MockCluster(console=True, trace="requests").start()
    with pytest.raises(OptionError, match="console is 1"):
        MockCluster(console=1).start()  # type: ignore[arg-type]
