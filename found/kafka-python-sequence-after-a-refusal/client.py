"""A transaction of which a record is too large is aborted; others with small records follow."""

import os

from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"], transactional_id="billing")
producer.init_transactions()


def attempt(what, call, *arguments):
    try:
        call(*arguments)
        print(f"{what}: done")
        return True
    except Exception as error:
        print(f"{what}: {type(error).__name__}")
        return False


for value in (b"1", b"large" * 1000, b"2", b"3"):
    if not attempt("begin", producer.begin_transaction):
        break
    if attempt(f"send {len(value)} bytes", lambda value=value: producer.send("orders", value).get(30)):
        attempt("commit", producer.commit_transaction)
    elif not attempt("abort", producer.abort_transaction):
        break
producer.close(timeout=2)
