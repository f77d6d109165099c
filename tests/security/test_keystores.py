"""Keystores that a configuration names, beyond what was recorded from real brokers (`tests/tls`)."""

import os
from pathlib import Path

import pytest
import trustme

from mockbroker import MockCluster, OptionError, Security
from mockbroker.rig.certificates import PASSWORD, Certificates
from mockbroker.server.keystores import Shown, Store, StoreError, keystore, truststore

from .test_tls import asked, shaken

TLS = Security(listeners={"INSIDE": "SSL", "OUTSIDE": "SSL"})


def test_one_listener_has_a_keystore_of_its_own_in_pem(tmp_path: Path) -> None:
    files = Certificates(tmp_path)
    config = {
        "listener.name.inside.ssl.keystore.type": "PEM",
        "listener.name.inside.ssl.keystore.location": files.pem("broker"),
    }
    with MockCluster(brokers=1, security=TLS, config=config) as cluster:
        with shaken(cluster, files.pem("ca")) as sock:
            assert asked(sock) == 1
        cluster.show_certificate("valid")
        with shaken(cluster, cluster.client_settings("confluent-kafka")["ssl.ca.location"]) as sock:
            assert asked(sock) == 1


def test_a_keystore_that_is_none_is_told_at_the_start(tmp_path: Path) -> None:
    config = {"ssl.keystore.location": str(tmp_path / "none.p12")}
    with pytest.raises(OptionError, match=r"Failed to load SSL keystore .*none\.p12 of type JKS"):
        MockCluster(brokers=1, security=TLS, config=config).start()


@pytest.mark.parametrize("read", [keystore, truststore])
def test_what_is_no_file_is_not_read(tmp_path: Path, read: object) -> None:
    """A pipe would be waited for."""
    os.mkfifo(tmp_path / "pipe")
    assert callable(read)
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(StoreError, match="Failed to load SSL keystore"):
            read(Store(str(path), PASSWORD, "PKCS12"))


def test_names_are_told_as_java_shows_them() -> None:
    ca = trustme.CA()
    names = ("a, b", "c")
    pems = [ca.issue_cert("x.test", organization_name=each).cert_chain_pems[0].bytes() for each in names]
    one, other = map(Shown.of_pem, pems)
    one.check(one)
    with pytest.raises(StoreError) as told:
        one.check(other)
    assert 'O="a, b"}, new={alias=kafka' in str(told.value)
