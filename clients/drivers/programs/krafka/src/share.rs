use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use krafka::share_consumer::{
    AcknowledgementCommit, AcknowledgementMode, AcquireMode, CommitResults, ShareConsumer,
};
use krafka::{ConsumerRecord, Kafka, KrafkaError};
use serde_json::{Value, json};

use crate::lines::{Call, Done, Failure, Handle, Lines};
use crate::{described, record, wait, within};

type Place = (String, i32, i64);
/// Within which the callback is called once a commit has returned.
const TOLD_SOON: Duration = Duration::from_secs(5);

/// `refused` is None until the callback has told.
struct Renewed {
    record: ConsumerRecord,
    refused: Option<bool>,
}

/// What was renewed: no poll returns it again.
#[derive(Default)]
struct Renewals {
    all: Mutex<BTreeMap<Place, Renewed>>,
    told: Condvar,
}

impl Renewals {
    fn tell(&self, told: &AcknowledgementCommit) {
        let mut all = self.all.lock().unwrap();
        for offset in told.offsets.iter().cloned().flatten() {
            if let Some(each) = all.get_mut(&(told.topic.clone(), told.partition, offset)) {
                each.refused = Some(told.result.is_err());
            }
        }
        self.told.notify_all();
    }

    /// All of them, once the callback has told of each.
    fn take(&self) -> Vec<Renewed> {
        let untold =
            |all: &mut BTreeMap<Place, Renewed>| all.values().any(|one| one.refused.is_none());
        let all = self.all.lock().unwrap();
        let (mut all, _) = self
            .told
            .wait_timeout_while(all, TOLD_SOON, untold)
            .unwrap();
        std::mem::take(&mut *all).into_values().collect()
    }
}

struct Shares {
    consumer: ShareConsumer,
    /// What a poll has returned, the last of each place.
    polled: Mutex<HashMap<Place, ConsumerRecord>>,
    renewals: Arc<Renewals>,
}

pub fn open(call: &Call, kafka: Kafka, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    let handle = call.handle.clone();
    let renewals = Arc::new(Renewals::default());
    let renewed = renewals.clone();
    let mut builder = kafka
        .share_consumer(call.setting("group.id").unwrap_or_default())
        .acknowledgement_commit_callback(move |told| {
            tell(&lines, &handle, told);
            renewed.tell(told);
        });
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
        renewals,
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
        let found = if self.renewals.all.lock().unwrap().is_empty() {
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
        wait(self.consumer.commit())?;
        let (kept, lost): (Vec<_>, Vec<_>) = self
            .renewals
            .take()
            .into_iter()
            .partition(|each| each.refused == Some(false));
        for each in lost {
            // It may be lost altogether, so that there is nothing to release.
            let _ = self.consumer.release(&each.record);
        }
        Ok(kept.into_iter().map(|each| each.record).collect())
    }

    fn acknowledge(&self, call: &Call) -> Result<(), Failure> {
        let place = call.place();
        let polled = self.polled.lock().unwrap();
        let record = polled
            .get(&place)
            .ok_or_else(|| Failure::named("NotPolled", "no poll has returned this record"))?;
        let mut renewals = self.renewals.all.lock().unwrap();
        renewals.remove(&place);
        said(&self.consumer, record, call.text("as"))?;
        if call.text("as") == "renew" {
            let renewed = Renewed {
                record: record.clone(),
                refused: None,
            };
            renewals.insert(place, renewed);
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
