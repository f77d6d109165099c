//! A worker begins a transaction, finds nothing to do, and ends it.
use std::env;

use krafka::producer::TransactionalProducer;
use krafka::{Kafka, KrafkaError};

async fn begun(id: &str) -> Result<TransactionalProducer, KrafkaError> {
    let servers = env::var("BOOTSTRAP_SERVERS").unwrap();
    let client = Kafka::builder(servers).connect().await?;
    let producer = client.producer().build_transactional(id).await?;
    producer.begin()?;
    Ok(producer)
}

fn tell(what: &str, result: Result<(), KrafkaError>) {
    match result {
        Ok(()) => println!("{what}: done"),
        Err(error) => println!("{what}: {error}"),
    }
}

#[tokio::main]
async fn main() -> Result<(), KrafkaError> {
    let worker = begun("a worker").await?;
    tell("commit", worker.commit().await);
    tell("abort after that", worker.abort().await);
    tell("begin after that", worker.begin());
    Ok(())
}
