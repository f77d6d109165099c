//! A consumer is dropped after its first record, and another one of the group goes on. It depends on how soon
//! the consumer is closed, so other groups do the same.
use std::{env, thread, time::Duration};

use rdkafka::config::{ClientConfig, FromClientConfig};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Message;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

fn create<Client: FromClientConfig>(group: &str) -> Client {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", env::var("BOOTSTRAP_SERVERS").unwrap());
    config.set("group.id", group).set("auto.offset.reset", "earliest");
    config.create().unwrap()
}

fn read(group: &str) -> String {
    let consumer: BaseConsumer = create(group);
    consumer.subscribe(&["orders"]).unwrap();
    let found = (0..60).find_map(|_| consumer.poll(Duration::from_millis(100)));
    thread::sleep(Duration::from_secs(1));
    found.map_or("nothing".into(), |one| one.unwrap().offset().to_string())
}

fn main() {
    let producer: BaseProducer = create("none");
    for _ in 0..10 {
        let record = BaseRecord::<str, str>::to("orders").payload("1");
        producer.send(record).unwrap();
    }
    producer.flush(Duration::from_secs(10)).unwrap();
    let (mut first, mut next) = (String::new(), String::new());
    for group in ["a", "b", "c", "d", "e", "f"] {
        (first, next) = (read(group), read(group));
        if next == "nothing" { break; }
    }
    println!("a consumer reads {first}\nthe next consumer reads {next}");
}
