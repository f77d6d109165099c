// Driver: rskafka, of the package rskafka

//! Drives rskafka: docs/drivers.md. "No support for offset tracking, consumer groups, transactions, etc...", says its
//! README; it has a client for each partition, which the application chooses.

mod admin;
#[allow(dead_code)]
mod asked;
mod consumer;
mod lines;
mod producer;
mod secured;

use std::future::Future;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rskafka::BackoffConfig;
use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::partition::{PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use lines::{Call, Failure, Handle, Lines};

/// Settings of a kind of handle, besides those of all.
const PRODUCES: [&str; 4] = [
    "compression.type",
    "delivery.timeout.ms",
    "linger.ms",
    "max.request.size",
];
const CONSUMES: [&str; 2] = ["auto.offset.reset", "fetch.max.wait.ms"];
const ALL: [&str; 3] = ["bootstrap.servers", "client.id", "retry.backoff.ms"];

/// How long an application waits for a client of a partition, which may be looked for without an end.
const LOOKING: Duration = Duration::from_secs(2);

pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads")
});

/// Makes a call of the client, and waits for it.
pub fn wait<F: Future>(call: F) -> F::Output {
    RUNTIME.block_on(call)
}

/// The client's calls take no timeouts: an application that won't wait longer does this.
pub fn within<T>(limit: Duration, call: impl Future<Output = T>) -> Result<T, Failure> {
    wait(async { timeout(limit, call).await }).map_err(|_| late(limit))
}

fn late(limit: Duration) -> Failure {
    Failure::named("Elapsed", &format!("not done after {limit:?}"))
}

pub fn described(error: &Error) -> Value {
    let text = format!("{error:?}");
    let name = text.split(|c: char| !c.is_alphanumeric()).next();
    let mut said = json!({"name": name, "message": error.to_string()});
    if let Error::ServerError { protocol_error, .. } = error {
        let code = (1..200).find(|code| ProtocolError::new(*code) == Some(*protocol_error));
        said["name"] = json!(format!("{protocol_error:?}"));
        said["code"] = json!(code);
    }
    said
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure(described(&error))
    }
}

pub fn partition(
    client: &Client,
    topic: &str,
    number: i32,
) -> Result<Arc<PartitionClient>, Failure> {
    let found = client.partition_client(topic, number, UnknownTopicHandling::Retry);
    Ok(Arc::new(within(LOOKING, found)??))
}

fn connected(call: &Call) -> Result<Client, Failure> {
    let servers = call.setting("bootstrap.servers").unwrap_or_default();
    let mut builder = ClientBuilder::new(servers.split(',').map(str::to_string).collect());
    if let Some(id) = call.setting("client.id") {
        builder = builder.client_id(id);
    }
    builder = builder.backoff_config(BackoffConfig {
        init_backoff: call
            .duration("retry.backoff.ms")
            .unwrap_or(BackoffConfig::default().init_backoff),
        deadline: call.duration("delivery.timeout.ms"),
        ..Default::default()
    });
    if let Some(config) = secured::tls(call)? {
        builder = builder.tls_config(config);
    }
    if let Some(config) = secured::sasl(call)? {
        builder = builder.sasl_config(config);
    }
    Ok(within(call.timeout(), builder.build())??)
}

fn open(call: &Call, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    match call.text("kind") {
        "producer" => producer::open(call, connected(call)?, lines),
        "consumer" => consumer::open(call, connected(call)?),
        "admin" => Ok(admin::open(connected(call)?)),
        _ => Err(call.unsupported()),
    }
}

fn taken(settings: &[&'static str]) -> Vec<&'static str> {
    let secured = secured::SETTINGS.iter();
    settings
        .iter()
        .chain(&ALL)
        .chain(secured)
        .copied()
        .collect()
}

fn main() {
    let client = format!("rskafka {}", env!("RSKAFKA"));
    let settings = json!({
        "producer": taken(&PRODUCES), "consumer": taken(&CONSUMES), "admin": taken(&[]),
    });
    let capabilities = [
        "assign",
        "seek",
        "admin",
        "delete-topic",
        "delete-records",
        "list-offsets",
        "compression.type=gzip",
        "compression.type=lz4",
        "compression.type=snappy",
        "compression.type=zstd",
    ];
    lines::serve(&client, &capabilities, settings, &[], open);
}
