//! An application that writes and reads orders with rskafka.

use std::collections::BTreeMap;

use rskafka::client::error::Error;
use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::client::ClientBuilder;
use rskafka::record::Record;

async fn orders(brokers: Vec<String>) -> Result<rskafka::client::partition::PartitionClient, Error> {
    let client = ClientBuilder::new(brokers).build().await?;
    client.partition_client("orders", 0, UnknownTopicHandling::Retry).await
}

pub async fn write_order(brokers: Vec<String>, order: &str) -> Result<(), Error> {
    let record = Record {
        key: None,
        value: Some(order.into()),
        headers: BTreeMap::new(),
        timestamp: chrono::Utc::now(),
    };
    orders(brokers).await?.produce(vec![record], Compression::NoCompression).await?;
    Ok(())
}

pub async fn read_orders(brokers: Vec<String>) -> Result<Vec<String>, Error> {
    let (records, _) = orders(brokers).await?.fetch_records(0, 1..1_000_000, 1_000).await?;
    let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    Ok(records.into_iter().map(|each| text(each.record.value)).collect())
}
