"""Brokers stand still while a transaction is committed; the application aborts, and goes on."""

import os
import subprocess

from kafka import KafkaProducer
from kafka.errors import KafkaError

producer = KafkaProducer(
    bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"],
    transactional_id="billing",
    request_timeout_ms=1000,
)


def attempt(name, call):
    try:
        call()
        print(f"{name}: done", flush=True)
    except KafkaError as error:
        print(f"{name}:", str(error).split(" [Error")[0], flush=True)


producer.init_transactions()
producer.begin_transaction()
producer.send("orders", b"1").get()
subprocess.run(os.environ["STAND_STILL"], shell=True, check=True, stdout=subprocess.DEVNULL)
attempt("commit", producer.commit_transaction)
attempt("abort", producer.abort_transaction)
attempt("begin another one", producer.begin_transaction)
producer.close(timeout=1)
