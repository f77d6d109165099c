//! A consumer is dropped after its first record, and another one of the group goes on.
use std::{env, thread, time::Duration};

use rdkafka::config::{ClientConfig, FromClientConfig};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Message;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

fn create<Client: FromClientConfig>() -> Client {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", env::var("BOOTSTRAP_SERVERS").unwrap());
    config.set("group.id", "billing");
    config.set("auto.offset.reset", "earliest");
    config.create().unwrap()
}

fn read(consumer: &BaseConsumer, name: &str) {
    match (0..60).find_map(|_| consumer.poll(Duration::from_millis(100))) {
        Some(record) => println!("{name} reads offset {}", record.unwrap().offset()),
        None => println!("{name} reads nothing"),
    }
}

fn main() {
    let producer: BaseProducer = create();
    for _ in 0..10 {
        let record = BaseRecord::<str, str>::to("orders").payload("1");
        producer.send(record).unwrap();
    }
    producer.flush(Duration::from_secs(10)).unwrap();
    for name in ["a consumer", "the next consumer"] {
        let consumer: BaseConsumer = create();
        consumer.subscribe(&["orders"]).unwrap();
        read(&consumer, name);
        thread::sleep(Duration::from_secs(1));
    }
}
