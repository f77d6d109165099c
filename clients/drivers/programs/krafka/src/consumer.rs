use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use krafka::Kafka;
use krafka::consumer::{
    AutoOffsetReset, Consumer, ConsumerGroupMetadata, ConsumerRebalanceListener, GroupProtocol,
    IsolationLevel, OffsetAndMetadata, PartitionAssignmentStrategy, TopicPartition,
};
use serde_json::{Value, json};

use crate::lines::{Call, Done, Failure, Handle, Lines};
use crate::{record, wait, within};

/// By handle, for the producers that send their offsets.
static MEMBERS: LazyLock<Mutex<HashMap<String, Arc<Consumer>>>> = LazyLock::new(Default::default);

pub fn group_metadata(handle: &str) -> Result<ConsumerGroupMetadata, Failure> {
    let member = MEMBERS.lock().unwrap().get(handle).cloned();
    let found = member.and_then(|consumer| wait(consumer.group_metadata()));
    found.ok_or_else(|| Failure::named("NoMetadata", &format!("{handle:?} is in no group")))
}

struct Told {
    handle: String,
    lines: Lines,
}

impl Told {
    fn tell(&self, event: &str, partitions: &[TopicPartition]) {
        let pairs: Vec<Value> = partitions
            .iter()
            .map(|at| json!([at.topic, at.partition]))
            .collect();
        self.lines
            .event(&self.handle, event, json!({"partitions": pairs}));
    }
}

impl ConsumerRebalanceListener for Told {
    async fn on_partitions_assigned(&self, partitions: &[TopicPartition]) {
        self.tell("assigned", partitions);
    }

    async fn on_partitions_revoked(&self, partitions: &[TopicPartition]) {
        self.tell("revoked", partitions);
    }

    async fn on_partitions_lost(&self, partitions: &[TopicPartition]) {
        self.tell("lost", partitions);
    }
}

struct Reads {
    consumer: Arc<Consumer>,
    handle: String,
}

pub fn open(call: &Call, kafka: Kafka, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    let handle = call.handle.clone();
    let mut builder = match call.setting("group.id") {
        None => kafka.consumer_without_group(),
        Some(group) => {
            let told = Told {
                handle: handle.clone(),
                lines,
            };
            kafka.consumer(group).rebalance_listener(told)
        }
    };
    builder = match call.setting("auto.offset.reset").as_deref() {
        Some("earliest") => builder.auto_offset_reset(AutoOffsetReset::Earliest),
        Some("none") => builder.auto_offset_reset(AutoOffsetReset::None),
        _ => builder.auto_offset_reset(AutoOffsetReset::Latest),
    };
    if call.is("isolation.level", "read_committed") {
        builder = builder.isolation_level(IsolationLevel::ReadCommitted);
    }
    if let Some(enabled) = call.setting("enable.auto.commit") {
        builder = builder.enable_auto_commit(enabled == "true");
    }
    if let Some(interval) = call.duration("auto.commit.interval.ms") {
        builder = builder.auto_commit_interval(interval);
    }
    if let Some(limit) = call.duration("fetch.max.wait.ms") {
        builder = builder.fetch_max_wait(limit);
    }
    if let Some(most) = call.int("max.poll.records") {
        builder = builder.max_poll_records(most as i32);
    }
    if let Some(limit) = call.duration("max.poll.interval.ms") {
        builder = builder.max_poll_interval(limit);
    }
    if let Some(id) = call.setting("group.instance.id") {
        builder = builder.group_instance_id(id);
    }
    if call.is("group.protocol", "consumer") {
        builder = builder.group_protocol(GroupProtocol::Consumer);
    } else {
        if let Some(limit) = call.duration("session.timeout.ms") {
            builder = builder.session_timeout(limit);
        }
        if let Some(interval) = call.duration("heartbeat.interval.ms") {
            builder = builder.heartbeat_interval(interval);
        }
        if let Some(strategy) = call.setting("partition.assignment.strategy") {
            builder = builder.partition_assignment_strategy(match strategy.as_str() {
                "roundrobin" => PartitionAssignmentStrategy::RoundRobin,
                "cooperative-sticky" => PartitionAssignmentStrategy::CooperativeSticky,
                _ => PartitionAssignmentStrategy::Range,
            });
        }
    }
    let consumer = Arc::new(wait(builder.build())?);
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
            "subscribe" => wait(consumer.subscribe(call.texts("topics")))?,
            "assign" => wait(self.assign(call))?,
            "poll" => {
                let found = wait(consumer.poll(call.timeout()))?;
                let records: Vec<Value> = found.iter().map(record).collect();
                return Ok(Some(json!({"records": records})));
            }
            "commit" => match call.list("offsets") {
                None => wait(consumer.commit())?,
                Some(_) => wait(consumer.commit_offsets(call.places("offsets").map(
                    |(topic, partition, offset)| {
                        let at = TopicPartition::new(topic, partition);
                        (at, OffsetAndMetadata::new(offset.unwrap_or_default()))
                    },
                )))?,
            },
            "committed" => {
                let asked: Vec<_> = call.places("partitions").collect();
                let named: Vec<_> = asked
                    .iter()
                    .map(|(topic, partition, _)| (topic.as_str(), *partition))
                    .collect();
                let known = wait(consumer.committed(&named))?;
                let found = asked.into_iter().map(|(topic, partition, _)| {
                    let offset = known.get(&(topic.clone(), partition)).map(|at| at.offset);
                    json!([topic, partition, offset])
                });
                return Ok(Some(json!({"offsets": found.collect::<Vec<_>>()})));
            }
            "position" => {
                let found = call.places("partitions").map(|(topic, partition, _)| {
                    let offset = wait(consumer.position(&topic, partition));
                    json!([topic, partition, offset])
                });
                return Ok(Some(json!({"offsets": found.collect::<Vec<_>>()})));
            }
            "seek" => {
                let (topic, partition, offset) = call.place();
                match call.text("to") {
                    "beginning" => wait(consumer.seek_to_beginning(&topic, partition))?,
                    "end" => wait(consumer.seek_to_end(&topic, partition))?,
                    _ => wait(consumer.seek(&topic, partition, offset))?,
                }
            }
            "offsets-for-times" => {
                let mut rows = vec![];
                for (topic, partition, time) in call.places("partitions") {
                    let asked = [(topic.as_str(), partition)];
                    let found = wait(consumer.offsets_for_times(&asked, time.unwrap_or_default()));
                    for offset in found.into_values() {
                        let offset = Some(offset?).filter(|each| *each >= 0);
                        rows.push(json!([topic, partition, offset]));
                    }
                }
                return Ok(Some(json!({"offsets": rows})));
            }
            "pause" | "resume" => {
                for (topic, partition, _) in call.places("partitions") {
                    if call.verb == "pause" {
                        wait(consumer.pause(&topic, &[partition]));
                    } else {
                        wait(consumer.resume(&topic, &[partition]));
                    }
                }
            }
            "close" => {
                MEMBERS.lock().unwrap().remove(&self.handle);
                wait(consumer.close_with(within(call)))?;
            }
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}

impl Reads {
    /// Each topic has an assignment of its own.
    async fn assign(&self, call: &Call) -> krafka::Result<()> {
        let mut wanted: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        for topic in self.consumer.assignment().await.into_keys() {
            wanted.insert(topic, vec![]);
        }
        for (topic, partition, _) in call.places("partitions") {
            wanted.entry(topic).or_default().push(partition);
        }
        for (topic, partitions) in wanted {
            self.consumer.assign(&topic, partitions).await?;
        }
        for (topic, partition, offset) in call.places("partitions") {
            if let Some(offset) = offset {
                self.consumer.seek(&topic, partition, offset).await?;
            }
        }
        Ok(())
    }
}
