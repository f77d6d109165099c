"""Placeholders, and the answers that say what they stand for."""

import uuid
from typing import Any, Final

from ...protocol.primitives import short_uuid
from ...rig.migration_scene import subscription
from ...rig.scene import UNKNOWN_TOPIC_ID
from .building import record_bytes
from .consumer_binding import ConsumerBindings
from .share_binding import SESSION_APIS, ShareBindings
from .steps import SUFFIX, Step
from .streams_binding import StreamsBindings
from .telemetry_binding import TelemetryBindings
from .token_binding import TokenBindings

_UNBOUND_PRODUCER: Final = 10_000_000
_UNBOUND_SESSION: Final = 77_777


class Bindings:
    """What one broker handed out while a sequence was played to it."""

    def __init__(self, suffix: str, now_ms: int) -> None:
        self.suffix = suffix
        self.now_ms = now_ms
        self.producers: dict[int, tuple[int, int]] = {}
        self.sessions: dict[int, int] = {}
        self.members: dict[int, str] = {}
        self.generations: dict[int, int] = {}
        self.topic_ids: dict[str, uuid.UUID] = {}
        self.leaders: dict[tuple[str, int], tuple[int, int]] = {}
        """Leader and leader epoch of each partition."""
        self.shares = ShareBindings()
        self.streams = StreamsBindings()
        self.consumers = ConsumerBindings()
        self.telemetry = TelemetryBindings(suffix)
        self.tokens = TokenBindings()
        self.log_dir = ""

    def fill(self, value: Any) -> Any:
        """`value` without placeholders."""
        if isinstance(value, dict):
            if len(value) == 1:
                ((key, inner),) = value.items()
                if key.startswith("$"):
                    return self._placeholder(key, inner)
            return {key: self.fill(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill(each) for each in value]
        if isinstance(value, str):
            return value.replace(SUFFIX, f"-{self.suffix}")
        return value

    def _placeholder(self, key: str, inner: Any) -> Any:
        match key:
            case "$producer":
                return self.producers.get(inner, (_UNBOUND_PRODUCER + inner, 0))[0]
            case "$epoch":
                return self.producers.get(inner[0], (0, 0))[1] + inner[1]
            case "$session":
                return self.sessions.get(inner, _UNBOUND_SESSION + inner)
            case "$member":
                return self.members.get(inner, f"nobody-{inner}")
            case "$generation":
                return self.generations.get(inner[0], 0) + inner[1]
            case "$topic_id":
                return self.topic_id(inner)
            case "$leader_epoch":
                return self.leaders.get((self.fill(inner[0]), inner[1]), (-1, 0))[1] + inner[2]
            case "$share_epoch":
                return self.shares.epoch(*inner)
            case "$share_session":
                return self.shares.session(*inner)
            case "$acquired":
                member, topic, *rest = inner
                return self.shares.acknowledgements(member, self.topic_id(topic), *rest)
            case "$share_key":
                group, topic, partition = self.fill(inner)
                return f"{group}:{short_uuid(self.topic_id(topic))}:{partition}"
            case "$streams_epoch":
                return self.streams.epoch(*inner)
            case "$endpoint_epoch":
                return self.streams.endpoint_epoch(*inner)
            case "$tasks":
                return self.streams.tasks(*inner)
            case "$consumer_epoch":
                return self.consumers.epoch(*inner)
            case "$owned":
                return self.consumers.owned(*inner)
            case "$subscription":
                topics, owned = self.fill(inner)
                return subscription(topics, owned)
            case "$instance":
                return self.telemetry.instance(inner)
            case "$subscription_id":
                return self.telemetry.subscription_id(*inner)
            case "$hmac":
                return self.tokens.hmac(inner)
            case "$log_dir":
                return self.log_dir + inner
            case "$now":
                return self.now_ms + inner
            case "$hex":
                return bytes.fromhex(inner)
            case "$batches":
                return record_bytes(self.fill(inner))
        raise ValueError(f"no placeholder {key}")

    def topic_id(self, name: str) -> uuid.UUID:
        return self.topic_ids.get(self.fill(name), UNKNOWN_TOPIC_ID)

    def learn(self, step: Step, fields: dict[str, Any], answer: Any) -> None:
        """Binds what the answer to a step of these fields hands out."""
        if step.binds is None or not isinstance(answer, dict):
            return
        if step.api == "share_group_heartbeat" or step.api in SESSION_APIS:
            if not step.mutations:
                self.shares.learn(step.api, step.binds, fields, answer)
            return
        if step.api == "streams_group_heartbeat":
            if not step.mutations:
                self.streams.learn(step.binds, answer)
            return
        if step.api == "consumer_group_heartbeat":
            if not step.mutations:
                self.consumers.learn(step.binds, answer)
            return
        if step.api == "get_telemetry_subscriptions":
            self.telemetry.learn(step.binds, answer)
        elif step.api == "create_delegation_token":
            self.tokens.learn(step.binds, answer)
        elif step.api == "fetch":
            if answer.get("session_id"):
                self.sessions[step.binds] = answer["session_id"]
        elif step.api == "join_group":
            if answer.get("member_id"):
                self.members[step.binds] = answer["member_id"]
            if answer.get("error_code") == "NONE" and "generation_id" in answer:
                self.generations[step.binds] = answer["generation_id"]
        elif answer.get("error_code") == "NONE" and answer.get("producer_id", -1) >= 0:
            self.producers[step.binds] = answer["producer_id"], answer["producer_epoch"]
