"""A consumer can't connect for a moment when it subscribes, once to a topic and once to a pattern."""

import asyncio
import logging
import os

from aiokafka import AIOKafkaConsumer
from aiokafka.abc import AbstractTokenProvider


class Tokens(AbstractTokenProvider):
    fail = False

    async def token(self):
        if self.fail:
            Tokens.fail = False
            raise ConnectionError("the issuer is down")
        return "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImV4cCI6NDEwMjQ0NDgwMH0."  # alice's, until 2100


async def subscribe(what, **to):
    settings = {"bootstrap_servers": os.environ["BOOTSTRAP_SERVERS"], "group_id": what}
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}
    consumer = AIOKafkaConsumer(**settings, **login, sasl_oauth_token_provider=Tokens())
    await consumer.start()
    Tokens.fail = True
    consumer.subscribe(**to)
    await asyncio.sleep(15)
    print(f"{what}: after 15 s, partitions: {len(consumer.assignment())}")
    await consumer.stop()


async def main():
    logging.disable()
    await subscribe("a topic", topics=["orders"])
    await subscribe("a pattern", pattern="orders")


asyncio.run(main())
