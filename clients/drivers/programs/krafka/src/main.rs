// Driver: krafka, of the package krafka

//! Drives krafka, a client in Rust: docs/drivers.md.

mod admin;
mod asked;
mod consumer;
mod lines;
mod producer;
mod secured;
mod share;

use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;

use krafka::error::KrafkaError;
use krafka::{CloseOptions, ConsumerRecord, Kafka};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use lines::{Call, Failure, Handle, Lines, encoded};

const CONNECTING: Duration = Duration::from_secs(10);

/// Settings of a kind of handle, besides those of all.
const PRODUCES: [&str; 9] = [
    "acks",
    "compression.type",
    "delivery.timeout.ms",
    "enable.idempotence",
    "linger.ms",
    "max.request.size",
    "retry.backoff.ms",
    "transaction.timeout.ms",
    "transactional.id",
];
const CONSUMES: [&str; 13] = [
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "enable.auto.commit",
    "fetch.max.wait.ms",
    "group.id",
    "group.instance.id",
    "group.protocol",
    "heartbeat.interval.ms",
    "isolation.level",
    "max.poll.interval.ms",
    "max.poll.records",
    "partition.assignment.strategy",
    "session.timeout.ms",
];
const SHARES: [&str; 5] = [
    "fetch.max.wait.ms",
    "group.id",
    "max.poll.records",
    "share.acknowledgement.mode",
    "share.acquire.mode",
];
const ALL: [&str; 3] = ["bootstrap.servers", "client.id", "request.timeout.ms"];

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
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

fn taken(settings: &[&'static str]) -> Vec<&'static str> {
    let secured = secured::SETTINGS.iter();
    settings
        .iter()
        .chain(&ALL)
        .chain(secured)
        .copied()
        .collect()
}

pub fn described(error: &KrafkaError) -> Value {
    let text = format!("{error:?}");
    let mut said = json!({
        "name": text.split(|c: char| !c.is_alphanumeric()).next(),
        "message": error.to_string(),
        "fatal": error.is_fatal(),
        "retriable": error.is_retriable(),
        "abortable": error.requires_abort(),
    });
    if let KrafkaError::Broker { code, .. } = error {
        said["name"] = json!(format!("{code:?}"));
        said["code"] = json!(code.to_i16());
    }
    said
}

impl From<KrafkaError> for Failure {
    fn from(error: KrafkaError) -> Self {
        Failure(described(&error))
    }
}

/// A record as a poll returns it.
pub fn record(each: &ConsumerRecord) -> Value {
    let headers: Vec<_> = each
        .headers
        .iter()
        .map(|(name, value)| json!([name, encoded(value.as_deref())]))
        .collect();
    json!({
        "topic": &*each.topic,
        "partition": each.partition,
        "offset": each.offset,
        "key": encoded(each.key.as_deref()),
        "value": encoded(each.value.as_deref()),
        "headers": headers,
        "leader_epoch": each.leader_epoch,
    })
}

pub fn within(call: &Call) -> CloseOptions {
    CloseOptions::new().timeout(call.timeout())
}

/// The cluster, as each handle has it: none shares its connections.
fn connected(call: &Call) -> Result<Kafka, Failure> {
    let mut builder = Kafka::builder(call.setting("bootstrap.servers").unwrap_or_default());
    if let Some(id) = call.setting("client.id") {
        builder = builder.client_id(id);
    }
    if let Some(limit) = call.duration("request.timeout.ms") {
        builder = builder
            .request_timeout(limit)
            .connect_timeout(limit.min(CONNECTING));
    }
    if let Some(security) = secured::security(call)? {
        builder = builder.security(security);
    }
    Ok(wait(builder.connect())?)
}

fn open(call: &Call, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    match call.text("kind") {
        "producer" => producer::open(call, connected(call)?, lines),
        "consumer" => consumer::open(call, connected(call)?, lines),
        "share-consumer" => share::open(call, connected(call)?, lines),
        "admin" => admin::open(connected(call)?),
        _ => Err(call.unsupported()),
    }
}

fn main() {
    let client = format!("krafka {}", env!("KRAFKA"));
    let capabilities = [
        "groups",
        "assign",
        "idempotence",
        "transactions",
        "send-offsets",
        "consumer-protocol",
        "pause",
        "seek",
        "offsets-for-times",
        "headers",
        "null-headers",
        "share",
        "renew",
        "admin",
        "create-partitions",
        "delete-topic",
        "alter-config",
        "describe-config",
        "delete-records",
        "list-offsets",
        "compression.type=gzip",
        "compression.type=snappy",
        "compression.type=lz4",
        "partition.assignment.strategy=range",
        "partition.assignment.strategy=roundrobin",
        "partition.assignment.strategy=cooperative-sticky",
    ];
    let settings = json!({
        "producer": taken(&PRODUCES), "consumer": taken(&CONSUMES), "share-consumer": taken(&SHARES),
        "admin": taken(&[]),
    });
    let untimed = [
        "flush",
        "commit",
        "commit-transaction",
        "abort-transaction",
        "send-offsets",
        "committed",
    ];
    lines::serve(&client, &capabilities, settings, &untimed, open);
}
