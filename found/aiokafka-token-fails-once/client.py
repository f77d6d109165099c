"""A producer connects again while no token can be had; then there are tokens again."""

import asyncio
import logging
import os

from aiokafka import AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider

logging.disable()


class Tokens(AbstractTokenProvider):
    fail = False

    async def token(self):
        if self.fail:
            raise RuntimeError("the issuer answers with the status 503")
        return "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImV4cCI6NDEwMjQ0NDgwMH0."  # alice's, until 2100


async def send(when, producer):
    try:
        print(f"{when}: at offset {(await producer.send_and_wait('orders', b'1')).offset}")
    except Exception as error:
        print(f"{when}: {error!r}")


async def main():
    settings = {"bootstrap_servers": os.environ["BOOTSTRAP_SERVERS"], "connections_max_idle_ms": 500}
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}
    producer = AIOKafkaProducer(**settings, **login, sasl_oauth_token_provider=Tokens())
    await producer.start()
    for Tokens.fail in (False, True, False):
        await send("no token" if Tokens.fail else "a token", producer)
        await asyncio.sleep(1.5)  # the connection is closed, since it is idle


asyncio.run(main())
