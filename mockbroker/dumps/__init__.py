"""Files that brokers and Kafka's tools wrote: log segments, dumps of segments, dumps of internal topics."""
