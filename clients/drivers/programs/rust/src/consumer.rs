use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use rdkafka::config::{ClientConfig, FromClientConfigAndContext};
use rdkafka::consumer::{
    BaseConsumer, CommitMode, Consumer, ConsumerContext, ConsumerGroupMetadata, Rebalance,
};
use rdkafka::error::KafkaError;
use rdkafka::{Message, Offset, TopicPartitionList};
use serde_json::{Value, json};

use crate::lines::{Call, Done, Failure, Handle, encoded};
use crate::{Told, described};

const MOST_RECORDS: usize = 500;

/// By handle, for the producers that send their offsets.
static MEMBERS: LazyLock<Mutex<HashMap<String, Arc<BaseConsumer<Told>>>>> =
    LazyLock::new(Default::default);

pub fn group_metadata(handle: &str) -> Result<ConsumerGroupMetadata, Failure> {
    let members = MEMBERS.lock().unwrap();
    let found = members
        .get(handle)
        .and_then(|consumer| consumer.group_metadata());
    found.ok_or_else(|| Failure::named("NoMetadata", &format!("{handle:?} is in no group")))
}

impl ConsumerContext for Told {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let (event, partitions) = match rebalance {
            Rebalance::Assign(partitions) => ("assigned", partitions),
            Rebalance::Revoke(partitions) if consumer.assignment_lost() => ("lost", partitions),
            Rebalance::Revoke(partitions) => ("revoked", partitions),
            Rebalance::Error(error) => {
                let said = json!({"error": described(error)});
                return self.lines.event(&self.handle, "error", said);
            }
        };
        let pairs: Vec<Value> = partitions
            .elements()
            .iter()
            .map(|each| json!([each.topic(), each.partition()]))
            .collect();
        self.lines
            .event(&self.handle, event, json!({"partitions": pairs}));
    }
}

struct Reads {
    consumer: Arc<BaseConsumer<Told>>,
    handle: String,
}

pub fn open(call: &Call, config: ClientConfig, told: Told) -> Result<Box<dyn Handle>, Failure> {
    let consumer = Arc::new(BaseConsumer::from_config_and_context(&config, told)?);
    let handle = call.handle.clone();
    MEMBERS
        .lock()
        .unwrap()
        .insert(handle.clone(), consumer.clone());
    Ok(Box::new(Reads { consumer, handle }))
}

impl Handle for Reads {
    fn call(&self, call: &Call) -> Done {
        let consumer = &self.consumer;
        match call.verb.as_str() {
            "subscribe" => {
                let topics = call
                    .list("topics")
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                consumer.subscribe(&topics.collect::<Vec<_>>())?;
            }
            "assign" => consumer.assign(&partitions(call.list("partitions"))?)?,
            "poll" => return Ok(Some(self.poll(call.timeout()))),
            "commit" => match call.list("offsets") {
                None => consumer.commit_consumer_state(CommitMode::Sync)?,
                given => consumer.commit(&partitions(given)?, CommitMode::Sync)?,
            },
            "committed" => {
                let asked = partitions(call.list("partitions"))?;
                return Ok(Some(offsets(
                    &consumer.committed_offsets(asked, call.timeout())?,
                )?));
            }
            "position" => {
                let (asked, known) = (partitions(call.list("partitions"))?, consumer.position()?);
                let mut found = TopicPartitionList::new();
                for each in asked.elements() {
                    let at = known.find_partition(each.topic(), each.partition());
                    let offset = at.map_or(Offset::Invalid, |at| at.offset());
                    found.add_partition_offset(each.topic(), each.partition(), offset)?;
                }
                return Ok(Some(offsets(&found)?));
            }
            "seek" => {
                let partition = call.number("partition").unwrap_or_default() as i32;
                let offset = Offset::Offset(call.number("offset").unwrap_or_default());
                consumer.seek(call.text("topic"), partition, offset, call.timeout())?;
            }
            "close" => {
                MEMBERS.lock().unwrap().remove(&self.handle);
            }
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}

impl Reads {
    fn poll(&self, timeout: Duration) -> Value {
        let (mut records, mut errors, mut wait) = (vec![], vec![], timeout);
        while records.len() < MOST_RECORDS {
            match self.consumer.poll(wait) {
                None => break,
                Some(Err(error)) => errors.push(described(&error)),
                Some(Ok(message)) => records.push(json!({
                    "topic": message.topic(),
                    "partition": message.partition(),
                    "offset": message.offset(),
                    "key": encoded(message.key()),
                    "value": encoded(message.payload()),
                })),
            }
            wait = Duration::ZERO;
        }
        json!({"records": records, "errors": errors})
    }
}

/// A list of `[topic, partition]` or `[topic, partition, offset]`.
pub fn partitions(given: Option<&Vec<Value>>) -> Result<TopicPartitionList, KafkaError> {
    let mut list = TopicPartitionList::new();
    for each in given.into_iter().flatten() {
        let topic = each[0].as_str().unwrap_or_default();
        let partition = each[1].as_i64().unwrap_or_default() as i32;
        match each.get(2).and_then(Value::as_i64) {
            Some(offset) => list.add_partition_offset(topic, partition, Offset::Offset(offset))?,
            None => {
                list.add_partition(topic, partition);
            }
        }
    }
    Ok(list)
}

fn offsets(list: &TopicPartitionList) -> Result<Value, KafkaError> {
    let mut found = vec![];
    for each in list.elements() {
        each.error()?;
        let offset = match each.offset() {
            Offset::Offset(offset) => Some(offset),
            _ => None,
        };
        found.push(json!([each.topic(), each.partition(), offset]));
    }
    Ok(json!({"offsets": found}))
}
