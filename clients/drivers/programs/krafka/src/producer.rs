use std::sync::Arc;

use krafka::producer::{Acks, Producer, TopicPartitionOffset, TransactionalProducer};
use krafka::{Compression, Kafka, KrafkaError, Record};
use serde_json::json;

use crate::consumer::group_metadata;
use crate::lines::{Call, Done, Failure, Handle, Lines};
use crate::{described, wait, within};

#[derive(Clone)]
enum Client {
    Plain(Arc<Producer>),
    Transactional(Arc<TransactionalProducer>),
}

struct Sends {
    client: Client,
    lines: Lines,
}

pub fn open(call: &Call, kafka: Kafka, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    let mut builder =
        kafka
            .producer()
            .compression(match call.setting("compression.type").as_deref() {
                Some("gzip") => Compression::Gzip,
                Some("snappy") => Compression::Snappy,
                Some("lz4") => Compression::Lz4,
                _ => Compression::None,
            });
    match call.setting("acks").as_deref() {
        Some("0") => builder = builder.acks(Acks::None).idempotent(false),
        Some("1") => builder = builder.acks(Acks::Leader).idempotent(false),
        _ if call.is("enable.idempotence", "false") => builder = builder.idempotent(false),
        _ => builder = builder.idempotent(true),
    }
    if let Some(linger) = call.duration("linger.ms") {
        builder = builder.linger(linger);
    }
    if let Some(limit) = call.duration("delivery.timeout.ms") {
        builder = builder.delivery_timeout(limit);
    }
    if let Some(backoff) = call.duration("retry.backoff.ms") {
        builder = builder.retry_backoff(backoff);
    }
    if let Some(limit) = call.int("max.request.size") {
        builder = builder.max_request_size(limit as usize);
    }
    if let Some(limit) = call.duration("transaction.timeout.ms") {
        builder = builder.transaction_timeout(limit);
    }
    let client = match call.setting("transactional.id") {
        None => Client::Plain(Arc::new(wait(builder.build())?)),
        Some(id) => Client::Transactional(Arc::new(wait(builder.build_transactional(id))?)),
    };
    Ok(Box::new(Sends { client, lines }))
}

impl Handle for Sends {
    fn call(&self, call: &Call) -> Done {
        match (call.verb.as_str(), &self.client) {
            ("produce", _) => {
                self.produce(call);
                return Ok(None);
            }
            ("flush", Client::Plain(client)) => wait(client.flush())?,
            ("flush", Client::Transactional(client)) => wait(client.flush())?,
            ("close", Client::Plain(client)) => wait(client.close_with(within(call)))?,
            ("close", Client::Transactional(client)) => wait(client.close_with(within(call)))?,
            ("begin", Client::Transactional(client)) => client.begin()?,
            ("send-offsets", Client::Transactional(client)) => {
                let group = group_metadata(call.text("consumer"))?;
                let offsets: Vec<TopicPartitionOffset> = call
                    .places("offsets")
                    .map(|(topic, partition, offset)| {
                        TopicPartitionOffset::new(topic, partition, offset.unwrap_or_default())
                    })
                    .collect();
                wait(client.send_offsets(&offsets, &group))?;
            }
            ("commit-transaction", Client::Transactional(client)) => wait(client.commit())?,
            ("abort-transaction", Client::Transactional(client)) => wait(client.abort())?,
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}

impl Sends {
    fn produce(&self, call: &Call) {
        let mut record = Record::new(call.text("topic"), call.bytes("value").unwrap_or_default());
        if call.bytes("value").is_none() {
            record = record.without_value();
        }
        if let Some(key) = call.bytes("key") {
            record = record.key(key);
        }
        if let Some(partition) = call.number("partition") {
            record = record.partition(partition as i32);
        }
        for (name, value) in call.headers() {
            record = match value {
                Some(value) => record.header(name, value),
                None => record.null_header(name),
            };
        }
        let queued = wait(async {
            match &self.client {
                Client::Plain(client) => client.enqueue(record).await,
                Client::Transactional(client) => client.enqueue(record).await,
            }
        });
        let (lines, id) = (self.lines.clone(), call.id);
        match queued {
            Err(error) => lines.answer(id, Err(raised(&error))),
            Ok(handle) => {
                crate::RUNTIME.spawn(async move {
                    let told = handle
                        .await
                        .map(|at| json!({"partition": at.partition, "offset": at.offset}));
                    lines.answer(id, told.map_err(Failure::from));
                });
            }
        }
    }
}

/// An error of a record that was not queued.
fn raised(error: &KrafkaError) -> Failure {
    let mut said = described(error);
    said["raised"] = json!(true);
    Failure(said)
}
