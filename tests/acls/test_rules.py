"""Every API has a rule, and nobody asks for rules where there is no authorizer."""

import pytest

from mockbroker import ConfigError
from mockbroker.apis.registry import REGISTERED
from mockbroker.authorization.rules import RULES
from mockbroker.security import AUTHORIZER

from ..driving.cluster import a_cluster


def test_every_api_has_a_rule() -> None:
    assert RULES.keys() == REGISTERED


def test_an_authorizer_that_is_not_kafkas_is_refused() -> None:
    with pytest.raises(ConfigError, match=f"there is only Kafka's own, {AUTHORIZER}"):
        a_cluster(authorizer_class_name="com.example.Mine")


def test_a_super_user_has_a_type() -> None:
    with pytest.raises(ConfigError, match="write User:admin"):
        a_cluster(authorizer_class_name=AUTHORIZER, super_users="admin")
