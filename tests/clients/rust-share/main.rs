//! Reads as a member of a share group, with krafka, and says of records what java-share/Share.java says.

use std::{env, error::Error, time::Duration};

use krafka::{
    share_consumer::{AcknowledgementMode, ShareConsumer},
    Kafka,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().collect();
    let mut left: usize = words[4].parse()?;
    let kafka = Kafka::builder(words[1].clone()).connect().await?;
    let consumer = kafka
        .share_consumer(words[2].as_str())
        .acknowledgement_mode(AcknowledgementMode::Explicit)
        .build()
        .await?;
    consumer.subscribe([words[3].as_str()]).await?;
    while left > 0 {
        for record in &consumer.poll(Duration::from_secs(1)).await? {
            let value = record.value_str().unwrap_or_default().to_string();
            let times = record.delivery_count.unwrap_or(0);
            let kind = value.split(' ').next().unwrap_or_default();
            if kind == "slow" {
                // No poll returns it again.
                consumer.renew(record)?;
                println!("{value}\t{times}\trenew");
                settle(&consumer).await?;
            }
            let said = if kind == "bad" {
                consumer.reject(record)?;
                "reject"
            } else if kind == "again" && times < 3 {
                consumer.release(record)?;
                "release"
            } else {
                consumer.ack(record)?;
                "accept"
            };
            println!("{value}\t{times}\t{said}");
            left -= usize::from(said != "release");
        }
        settle(&consumer).await?;
    }
    consumer.close().await?;
    Ok(())
}

async fn settle(consumer: &ShareConsumer) -> Result<(), Box<dyn Error>> {
    for (_, outcome) in consumer.commit().await? {
        outcome?;
    }
    Ok(())
}
