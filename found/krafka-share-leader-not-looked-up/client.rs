//! A share consumer subscribes while one of three partitions has no leader.
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use std::{env, process::Command};

use krafka::{Kafka, Record};

fn have(name: &str) {
    let done = Command::new("sh").arg("-c").arg(env::var(name).unwrap()).output().unwrap();
    assert!(done.status.success(), "{name}: {done:?}");
}

async fn connected() -> Kafka {
    let servers = env::var("BOOTSTRAP_SERVERS").unwrap();
    Kafka::builder(servers).connect().await.unwrap()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    have("LEAVE");
    let consumer = connected().await.share_consumer("billing").build().await?;
    consumer.subscribe(["orders"]).await?;
    consumer.poll(Duration::from_secs(2)).await?;
    have("COME_BACK");
    let producer = connected().await.producer().build().await?;
    let mut read = BTreeSet::new();
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end && read.len() < 3 {
        for partition in 0..3 {
            producer.send(Record::new("orders", "1").partition(partition)).await?;
        }
        for record in consumer.poll(Duration::from_millis(500)).await? {
            read.insert(record.partition);
        }
    }
    println!("read from {} of 3 partitions", read.len());
    Ok(())
}
