"""Where a story is told: a super user at the plain listener gives and takes ACLs, and users log in."""

import re
import uuid
from typing import Any, Final

from mockbroker.acls import Acl, text
from mockbroker.rig.client import DisconnectedError, Fields, UnreadableAnswerError
from mockbroker.rig.normalise import Normaliser
from mockbroker.rig.scene import CLOSED

from ..sasl.stage import Login, SaslStage

USER: Final = "alice"
_SESSION_S: Final = 3600
_OF_REQUEST: Final = re.compile(r"Request Request\(.*\) (?=needs|is not)")
_CREATED: Final = (
    "resource_type",
    "resource_name",
    "resource_pattern_type",
    "principal",
    "host",
    "operation",
    "permission_type",
)
_ANYTHING: Final = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
_GIVEN: Final = 1000
"""Smaller producer ids were given by a cluster."""
LEFT_OUT: Final = ("throttle_time", "last_fetch_timestamp", "last_caught_up_timestamp")


class AclStage(SaslStage):
    """Topics, groups and ids of a story have names that no other story uses."""

    def begin(self) -> None:
        super().begin()
        self._users: dict[str, User] = {}
        self._given: list[str] = []
        cluster = self.ask("metadata", {"topics": []}, version=4)
        self.brokers.until(self._coordinates, "coordinators")
        ranks = {each["node_id"]: index for index, each in enumerate(cluster["brokers"])}
        ports = {each["port"]: index for index, each in enumerate(cluster["brokers"])}
        self.shown = Normaliser("no suffix", cluster["cluster_id"], ranks, ports, self._now_s)

    def _coordinates(self) -> bool:
        for kind in (0, 1):
            found = self.ask("find_coordinator", {"key": "x", "key_type": kind}, version=2)
            if found["error_code"] != "NONE":
                return False
        begun = {"transactional_id": "x", "transaction_timeout": 5000}
        fetched = self.ask("offset_fetch", {"group_id": "x", "topics": None}, version=2)
        codes = fetched["error_code"], self.ask("init_producer_id", begun, version=1)["error_code"]
        return codes == ("NONE", "NONE")

    def _now_s(self) -> float:
        return self.brokers.now_ms() / 1000

    def named(self, name: str) -> str:
        return f"{self.name}-{name}"

    def topics(self, *names: str) -> None:
        """Topics of one partition."""
        asked = [
            {
                "name": self.named(name),
                "num_partitions": 1,
                "replication_factor": 1,
                "assignments": [],
                "configs": [],
            }
            for name in names
        ]
        for each in self.ask("create_topics", {"topics": asked, "timeout": 10_000}, version=5)["topics"]:
            assert each["error_code"] in ("NONE", "TOPIC_ALREADY_EXISTS"), each
        self.brokers.until(lambda: self._are_led(names), f"leaders of {names}")

    def _are_led(self, names: tuple[str, ...]) -> bool:
        found = self.ask("metadata", {"topics": [{"name": self.named(name)} for name in names]}, version=9)
        for each in found["topics"]:
            if each["error_code"] != "NONE" or any(p["error_code"] != "NONE" for p in each["partitions"]):
                return False
        return True

    def topic_id(self, name: str) -> uuid.UUID:
        found = self.ask("metadata", {"topics": [{"name": self.named(name)}]}, version=12)
        topic_id: uuid.UUID = found["topics"][0]["topic_id"]
        self.shown.name_topic_id(topic_id, name)
        return topic_id

    def user(self, name: str = USER) -> "User":
        """Who has logged in."""
        if name not in self._users:
            login = self.login()
            login.shake("OAUTHBEARER")
            token = self.token(sub=name, iat=0, exp=_SESSION_S)
            assert login.say(token)["error_code"] == "NONE"
            self._users[name] = User(self, login)
        return self._users[name]

    # -- ACLs

    def give(self, *acls: str) -> None:
        """Adds ACLs, written as `acls.text` reads them; names of resources are the story's."""
        for each in acls:
            self.ask("create_acls", {"creations": [creation(acl) for acl in self._read(each)]}, version=3)
            self._given.append(each)
        self.brokers.until(lambda: all(self._given_acl(each) for each in acls), f"{acls}")

    def take(self, *acls: str) -> None:
        """Removes ACLs; all that were given if none is named."""
        taken = acls or tuple(self._given)
        for each in taken:
            self.ask("delete_acls", {"filters": [exactly(acl) for acl in self._read(each)]}, version=3)
            self._given.remove(each)
        self.brokers.until(lambda: not any(self._given_acl(each) for each in taken), f"{taken} to be gone")

    def _read(self, acl: str) -> list[Acl]:
        return [
            found
            if found.resource_name in ("*", "kafka-cluster")
            else found._replace(resource_name=self.named(found.resource_name))
            for found in text.read(acl)
        ]

    def _given_acl(self, acl: str) -> bool:
        for each in self._read(acl):
            found = self.ask("describe_acls", {**exactly(each)}, version=3)
            if not found["resources"]:
                return False
        return True

    def restore(self) -> None:
        if self._given:
            self.take()
        super().restore()

    def plain(self, answer: Any) -> Any:
        """An answer without what differs from run to run."""
        if isinstance(answer, dict):
            if answer.get("port", -1) != -1:
                answer = {**answer, "port": "<port>"}
            if 0 <= answer.get("producer_id", -1) < _GIVEN:
                answer = {**answer, "producer_id": "<producer>"}
            return {name: self.plain(each) for name, each in answer.items() if name not in LEFT_OUT}
        if isinstance(answer, list):
            return [self.plain(each) for each in answer]
        if isinstance(answer, str):
            return _OF_REQUEST.sub("Request … ", answer)
        return answer


class User:
    """A client that has logged in."""

    def __init__(self, stage: AclStage, login: Login) -> None:
        self._stage = stage
        self.client = login.client

    def ask(self, api: str, version: int | None = None, **fields: Any) -> Any:
        """The answer, without what differs from run to run."""
        return self.asks(api, fields, version)

    def asks(self, api: str, fields: Fields, version: int | None = None) -> Any:
        stage = self._stage
        asked = stage.newest(api) if version is None else version
        try:
            answer = self.client.call(api, asked, fields)
        except DisconnectedError:
            return CLOSED
        except UnreadableAnswerError as error:
            return str(error)
        return stage.plain(stage.shown.answer(answer, api))


def creation(acl: Acl) -> dict[str, Any]:
    return _as(_CREATED, acl)


def exactly(acl: Acl) -> dict[str, Any]:
    """A filter that nothing else matches."""
    return _as(tuple(_ANYTHING), acl)


def _as(names: tuple[str, ...], acl: Acl) -> dict[str, Any]:
    values = [int(each) if isinstance(each, int) else each for each in acl]
    return dict(zip(names, values, strict=True))


def anything(**chosen: Any) -> dict[str, Any]:
    """A filter that all ACLs match, but for what is `chosen`."""
    return {**_ANYTHING, **chosen}
