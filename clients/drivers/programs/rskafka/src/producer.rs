use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures::{FutureExt, poll};
use rskafka::client::Client;
use rskafka::client::partition::Compression;
use rskafka::client::producer::aggregator::RecordAggregator;
use rskafka::client::producer::{BatchProducer, BatchProducerBuilder, Error};
use rskafka::record::Record;
use serde_json::json;
use tokio::sync::watch;

use crate::lines::{Call, Done, Failure, Handle, Lines};
use crate::{RUNTIME, described, partition, wait, within};

const MOST_BYTES: usize = 1_000_000;

type Batches = BatchProducer<RecordAggregator>;

struct Sends {
    client: Client,
    lines: Lines,
    linger: Option<Duration>,
    most: usize,
    compression: Compression,
    partitions: Mutex<BTreeMap<(String, i32), Arc<Batches>>>,
    closed: watch::Sender<bool>,
}

pub fn open(call: &Call, client: Client, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    Ok(Box::new(Sends {
        client,
        lines,
        linger: call.duration("linger.ms"),
        most: call
            .int("max.request.size")
            .map_or(MOST_BYTES, |given| given as usize),
        compression: match call.setting("compression.type").as_deref() {
            Some("gzip") => Compression::Gzip,
            Some("snappy") => Compression::Snappy,
            Some("lz4") => Compression::Lz4,
            Some("zstd") => Compression::Zstd,
            _ => Compression::NoCompression,
        },
        partitions: Mutex::default(),
        closed: watch::Sender::new(false),
    }))
}

impl Handle for Sends {
    fn call(&self, call: &Call) -> Done {
        match call.verb.as_str() {
            "produce" => {
                self.produce(call)?;
                return Ok(None);
            }
            "flush" => self.flush(call)?,
            "close" => {
                let flushed = self.flush(call);
                self.closed.send_replace(true);
                flushed?;
            }
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}

impl Sends {
    /// The application chooses the partition; ours takes the first where it may.
    fn produce(&self, call: &Call) -> Result<(), Failure> {
        let number = call.number("partition").unwrap_or_default() as i32;
        let batches = self.batches(call.text("topic"), number)?;
        let record = Record {
            key: call.bytes("key"),
            value: call.bytes("value"),
            headers: BTreeMap::new(),
            timestamp: chrono::Utc::now(),
        };
        let mut sent = async move { batches.produce(record).await }.boxed();
        // It is queued now, so that records keep their order.
        let queued = wait(async { poll!(&mut sent) });
        let (lines, id, mut closed) = (self.lines.clone(), call.id, self.closed.subscribe());
        let answer = move |told: Result<i64, Error>| {
            let place = told.map(|offset| json!({"partition": number, "offset": offset}));
            lines.answer(id, place.map_err(|error| Failure(named(&error))));
        };
        let dropped = self.lines.clone();
        match queued {
            Poll::Ready(told) => answer(told),
            Poll::Pending => drop(RUNTIME.spawn(async move {
                tokio::select! {
                    biased;
                    told = sent => answer(told),
                    _ = closed.wait_for(|over| *over) => {
                        let text = "the application has dropped its future";
                        dropped.answer(id, Err(Failure::named("Dropped", text)));
                    }
                }
            })),
        }
        Ok(())
    }

    fn batches(&self, topic: &str, number: i32) -> Result<Arc<Batches>, Failure> {
        let mut partitions = self.partitions.lock().unwrap();
        let at = (topic.to_string(), number);
        if let Some(found) = partitions.get(&at) {
            return Ok(found.clone());
        }
        let mut builder = BatchProducerBuilder::new(partition(&self.client, topic, number)?)
            .with_compression(self.compression);
        if let Some(linger) = self.linger {
            builder = builder.with_linger(linger);
        }
        let made = Arc::new(builder.build(RecordAggregator::new(self.most)));
        partitions.insert(at, made.clone());
        Ok(made)
    }

    fn flush(&self, call: &Call) -> Result<(), Failure> {
        let partitions: Vec<_> = self.partitions.lock().unwrap().values().cloned().collect();
        let all = futures::future::try_join_all(partitions.iter().map(|each| each.flush()));
        within(call.timeout(), all)?.map_err(|error| Failure(named(&error)))?;
        Ok(())
    }
}

fn named(error: &Error) -> serde_json::Value {
    match error {
        Error::Client(client) => described(client),
        other => {
            let text = format!("{other:?}");
            let name = text.split(|c: char| !c.is_alphanumeric()).next();
            json!({"name": name, "message": other.to_string()})
        }
    }
}
