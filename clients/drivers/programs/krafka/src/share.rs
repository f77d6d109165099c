use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use krafka::share_consumer::{
    AcknowledgementCommit, AcknowledgementMode, AcquireMode, CommitResults, ShareConsumer,
};
use krafka::{ConsumerRecord, Kafka, KrafkaError};
use serde_json::{Value, json};

use crate::lines::{Call, Done, Failure, Handle, Lines};
use crate::{described, record, wait, within};

type Place = (String, i32, i64);

struct Shares {
    consumer: ShareConsumer,
    /// What a poll has returned, the last of each place.
    polled: Mutex<HashMap<Place, ConsumerRecord>>,
    /// What was renewed: no poll returns it again.
    renewed: Mutex<BTreeMap<Place, ConsumerRecord>>,
}

pub fn open(call: &Call, kafka: Kafka, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    let handle = call.handle.clone();
    let mut builder = kafka
        .share_consumer(call.setting("group.id").unwrap_or_default())
        .acknowledgement_commit_callback(move |told| tell(&lines, &handle, told));
    if call.is("share.acknowledgement.mode", "explicit") {
        builder = builder.acknowledgement_mode(AcknowledgementMode::Explicit);
    }
    if call.is("share.acquire.mode", "record_limit") {
        builder = builder.acquire_mode(AcquireMode::RecordLimit);
    }
    if let Some(most) = call.int("max.poll.records") {
        builder = builder.max_poll_records(most as i32);
    }
    if let Some(limit) = call.duration("fetch.max.wait.ms") {
        builder = builder.fetch_max_wait(limit);
    }
    let consumer = wait(builder.build())?;
    Ok(Box::new(Shares {
        consumer,
        polled: Mutex::default(),
        renewed: Mutex::default(),
    }))
}

fn tell(lines: &Lines, handle: &str, told: &AcknowledgementCommit) {
    let offsets: Vec<i64> = told.offsets.iter().cloned().flatten().collect();
    let mut fields = json!({"offsets": [[told.topic, told.partition, offsets]]});
    if let Err(error) = &told.result {
        fields["error"] = described(error);
    }
    lines.event(handle, "acknowledged", fields);
}

impl Handle for Shares {
    fn call(&self, call: &Call) -> Done {
        let consumer = &self.consumer;
        match call.verb.as_str() {
            "subscribe" => wait(consumer.subscribe(call.texts("topics")))?,
            "poll" => return self.poll(call).map(Some),
            "acknowledge" => self.acknowledge(call)?,
            "commit" => {
                let results = wait(consumer.commit())?;
                return Ok(Some(json!({"results": rows(&results)})));
            }
            // The client sends what was said by itself.
            "commit-async" => {
                let consumer = consumer.clone();
                crate::RUNTIME.spawn(async move { consumer.commit().await.map(drop) });
            }
            "close" => wait(consumer.close_with(within(call)))?,
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}

impl Shares {
    fn poll(&self, call: &Call) -> Result<Value, Failure> {
        let found = if self.renewed.lock().unwrap().is_empty() {
            wait(self.consumer.poll(call.timeout()))?
        } else {
            self.again()?
        };
        let mut polled = self.polled.lock().unwrap();
        let mut records = vec![];
        for each in found {
            let mut told = record(&each);
            told["delivery_count"] = json!(each.delivery_count);
            records.push(told);
            polled.insert((each.topic.to_string(), each.partition, each.offset), each);
        }
        Ok(json!({"records": records}))
    }

    /// What was renewed, once brokers have done so; what they have not is released.
    fn again(&self) -> Result<Vec<ConsumerRecord>, Failure> {
        let results = wait(self.consumer.commit())?;
        let failed = |at: &Place| {
            results.iter().any(|(each, result)| {
                (&each.topic, each.partition) == (&at.0, at.1) && result.is_err()
            })
        };
        let renewed = std::mem::take(&mut *self.renewed.lock().unwrap());
        let (lost, kept): (Vec<_>, Vec<_>) = renewed.into_iter().partition(|(at, _)| failed(at));
        for (_, each) in lost {
            // It may be lost altogether, so that there is nothing to release.
            let _ = self.consumer.release(&each);
        }
        Ok(kept.into_iter().map(|(_, each)| each).collect())
    }

    fn acknowledge(&self, call: &Call) -> Result<(), Failure> {
        let place = call.place();
        let polled = self.polled.lock().unwrap();
        let record = polled
            .get(&place)
            .ok_or_else(|| Failure::named("NotPolled", "no poll has returned this record"))?;
        let mut renewed = self.renewed.lock().unwrap();
        renewed.remove(&place);
        said(&self.consumer, record, call.text("as"))?;
        if call.text("as") == "renew" {
            renewed.insert(place, record.clone());
        }
        Ok(())
    }
}

fn said(consumer: &ShareConsumer, record: &ConsumerRecord, what: &str) -> Result<(), KrafkaError> {
    match what {
        "accept" => consumer.ack(record),
        "release" => consumer.release(record),
        "reject" => consumer.reject(record),
        _ => consumer.renew(record),
    }
}

fn rows(results: &CommitResults) -> Vec<Value> {
    let row = |(at, result): (&krafka::consumer::TopicPartition, &Result<(), KrafkaError>)| {
        json!([at.topic, at.partition, result.as_ref().err().map(described)])
    };
    results.iter().map(row).collect()
}
