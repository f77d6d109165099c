"""What real brokers, clients and tools of Kafka wrote, and the script that had them write it."""
