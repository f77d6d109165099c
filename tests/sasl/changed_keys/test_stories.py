"""Brokers take keys from a JWKS file that changes, as real ones do."""

from pathlib import Path

import pytest

from mockbroker import MockCluster, Security
from mockbroker.rig import sasl_listener

from ...driving.served import PLAIN, Served
from . import STORIES


class WithKeys(Served):
    """A `stories.WithKeys`."""

    def __init__(self, release: str, cluster: MockCluster, jwks: Path) -> None:
        super().__init__(release, cluster)
        self.jwks = jwks


@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_keys_change_as_at_real_brokers(release: str, story: str, tmp_path: Path) -> None:
    setting, jwks = STORIES.setting_of(story), tmp_path / "jwks.json"
    assert setting.jwks is not None
    jwks.write_text(setting.jwks())
    security = Security(
        listeners={PLAIN: PLAIN, sasl_listener.NAME: "SASL_PLAINTEXT"},
        sasl="oauthbearer",
        signed_tokens=True,
        jwks=jwks,
        issuer=setting.config["sasl.oauthbearer.expected.issuer"],
        audience=setting.config["sasl.oauthbearer.expected.audience"].split(","),
    )
    with MockCluster(
        kafka=release.rpartition(".")[0],  # type: ignore[arg-type]
        brokers=1,
        security=security,
        config=dict(setting.config),
    ) as cluster:
        ((_, told),) = STORIES.tell(WithKeys(release, cluster, jwks), [story])
    assert told == STORIES.recorded(release)[story]
