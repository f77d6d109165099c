"""The topic of a record is deleted before the transaction is committed; consumed offsets are sent too."""

import os

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
ORDERS, INVOICES = TopicPartition("orders", 0), TopicPartition("invoices", 0)

producer = KafkaProducer(
    bootstrap_servers=SERVERS, transactional_id="billing", request_timeout_ms=1_000, delivery_timeout_ms=2_000
)
producer.init_transactions()
producer.begin_transaction()
producer.send("invoices", b"1", partition=0).get(30)
admin = KafkaAdminClient(bootstrap_servers=SERVERS)
admin.delete_topics(["invoices"])
admin.close()
sent = producer.send("invoices", b"2", partition=0)
producer.send_offsets_to_transaction({ORDERS: OffsetAndMetadata(2, "", -1)}, "billing")
try:
    producer.commit_transaction()
    print("committed; its second record:", type(sent.exception).__name__)
except Exception as error:
    print("commit_transaction raised", type(error).__name__)
consumer = KafkaConsumer(bootstrap_servers=SERVERS, group_id="billing", enable_auto_commit=False)
print("orders are committed up to offset", consumer.committed(ORDERS))
os._exit(0)
