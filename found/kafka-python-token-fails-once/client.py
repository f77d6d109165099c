"""A producer has begun, and connects again while no token can be had; then there are tokens again."""

import logging
import os

from kafka import KafkaProducer
from kafka.net.sasl.oauth import AbstractTokenProvider

logging.disable()


class Tokens(AbstractTokenProvider):
    fail = False

    def token(self):
        if self.fail:
            raise RuntimeError("the issuer answers with the status 503")
        return "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImV4cCI6NDEwMjQ0NDgwMH0."  # alice's, until 2100


def new_producer():
    settings = {"bootstrap_servers": os.environ["BOOTSTRAP_SERVERS"], "max_block_ms": 5000}
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}
    return KafkaProducer(**settings, **login, sasl_oauth_token_provider=Tokens())


def send(when, producer):
    try:
        print(f"{when}: at offset {producer.send('orders', b'1').get(5).offset}")
    except Exception as error:
        print(f"{when}: {error!r}")


producer = new_producer()
for Tokens.fail in (True, False):
    send("no token" if Tokens.fail else "a token", producer)
send("a token, another producer", new_producer())
os._exit(0)
