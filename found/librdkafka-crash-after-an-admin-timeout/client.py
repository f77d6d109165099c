"""An admin client describes a group, and brokers answer later than the request may take."""

import os
import signal
import subprocess
import sys
import time

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient


def describe(timeout_s):
    admin = AdminClient({"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "log_level": 0})
    try:
        admin.describe_consumer_groups(["billing"], request_timeout=timeout_s)["billing"].result(60)
    except KafkaException as error:
        if error.args[0].name() == "_TIMED_OUT":
            print("timed out", flush=True)
    time.sleep(5)


if sys.argv[1:]:
    describe(float(sys.argv[1]))
else:
    for timeout_s, still in ((30, False), (1, True)):
        if still:
            subprocess.run(os.environ["STAND_STILL"], shell=True, check=True, stdout=subprocess.DEVNULL)
        asks = [sys.executable, __file__, str(timeout_s)]
        status = subprocess.run(asks, stderr=subprocess.DEVNULL).returncode
        print(f"its process ends by {signal.Signals(-status).name if status < 0 else f'status {status}'}")
