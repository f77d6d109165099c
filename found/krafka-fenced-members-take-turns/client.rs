//! Two consumers have one group_instance_id, as when a pod is replaced and the one before is still there.
use std::{env, time::{Duration, Instant}};

use krafka::consumer::{AutoOffsetReset, Consumer};
use krafka::{Kafka, KrafkaError, Record};

async fn connected() -> Result<Kafka, KrafkaError> {
    Kafka::builder(env::var("BOOTSTRAP_SERVERS").unwrap()).connect().await
}

async fn pod() -> Result<Consumer, KrafkaError> {
    let member = connected().await?.consumer("billing").group_instance_id("pod-1");
    let member = member.heartbeat_interval(Duration::from_millis(500));
    let consumer = member.auto_offset_reset(AutoOffsetReset::Earliest).build().await?;
    consumer.subscribe(["orders"]).await?;
    Ok(consumer)
}

#[tokio::main]
async fn main() -> Result<(), KrafkaError> {
    connected().await?.producer().build().await?.send(Record::new("orders", "an order")).await?;
    let mut pods = vec![(pod().await?, 0, 0)];
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end && pods.iter().any(|(_, read, _)| *read < 3) {
        for (consumer, read, fenced) in &mut pods {
            match consumer.poll(Duration::from_millis(200)).await {
                Ok(records) => *read += records.len(),
                Err(_) => *fenced += 1,
            }
        }
        if pods.len() == 1 && pods[0].1 == 1 {
            pods.push((pod().await?, 0, 0));
        }
    }
    for (name, (_, read, fenced)) in ["before", "after"].iter().zip(pods) {
        println!("the pod {name} has read it again: {}, was told an error: {}", read > 2, fenced > 0);
    }
    Ok(())
}
