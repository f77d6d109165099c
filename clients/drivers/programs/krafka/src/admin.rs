use std::collections::HashMap;
use std::hash::Hash;

use krafka::admin::{
    AdminClient, ConfigOp, ConfigResource, CreatePartitionsOptions, CreateTopicsOptions,
    DeleteRecordsOptions, DeleteTopicsOptions, DescribeConfigsOptions,
    IncrementalAlterConfigsOptions, ListOffsetsOptions, NewTopic, OffsetSpec, TopicPartition,
};
use krafka::{Kafka, KrafkaError};
use serde_json::json;

use crate::lines::{Call, Done, Failure, Handle};
use crate::wait;

struct Administers(AdminClient);

pub fn open(kafka: Kafka) -> Result<Box<dyn Handle>, Failure> {
    Ok(Box::new(Administers(kafka.admin())))
}

impl Handle for Administers {
    fn call(&self, call: &Call) -> Done {
        let (client, limit) = (&self.0, call.timeout());
        let topic = call.text("topic").to_string();
        match call.verb.as_str() {
            "create-topic" => {
                let partitions = call.number("partitions").unwrap_or(1) as i32;
                let replicas = call.number("replication_factor").unwrap_or(1) as i16;
                let new = NewTopic::new(topic, partitions, replicas)?;
                let options = CreateTopicsOptions::default().timeout(limit);
                only(wait(client.create_topics([new], options))?)?;
            }
            "create-partitions" => {
                let total = call.number("partitions").unwrap_or(1) as i32;
                let options = CreatePartitionsOptions::default().timeout(limit);
                only(wait(client.create_partitions([(topic, total)], options))?)?;
            }
            "delete-topic" => {
                let options = DeleteTopicsOptions::default().timeout(limit);
                only(wait(client.delete_topics([topic], options))?)?;
            }
            "alter-config" => {
                let set = ConfigOp::set(call.text("name"), call.text("to"));
                let changes = [(ConfigResource::topic(topic), vec![set])];
                let options = IncrementalAlterConfigsOptions::default().timeout(limit);
                only(wait(client.incremental_alter_configs(changes, options))?)?;
            }
            "describe-config" => {
                let name = call.text("name").to_string();
                let options = DescribeConfigsOptions::default()
                    .timeout(limit)
                    .config_names(vec![name.clone()]);
                let resource = ConfigResource::topic(topic);
                let entries = only(wait(client.describe_configs([resource], options))?)?;
                let found = entries.into_iter().find(|each| each.name == name);
                return Ok(Some(json!({"value": found.and_then(|each| each.value)})));
            }
            "delete-records" => {
                let (topic, partition, offset) = call.place();
                let before = [(TopicPartition::new(topic, partition), offset)];
                let options = DeleteRecordsOptions::default().timeout(limit);
                let start = only(wait(client.delete_records(before, options))?)?;
                return Ok(Some(json!({"offset": start})));
            }
            "list-offsets" => {
                let (topic, partition, _) = call.place();
                let at = match call.text("at") {
                    "earliest" => OffsetSpec::Earliest,
                    _ => OffsetSpec::Latest,
                };
                let asked = [(TopicPartition::new(topic, partition), at)];
                let options = ListOffsetsOptions::default().timeout(limit);
                let found = only(wait(client.list_offsets(asked, options))?)?;
                return Ok(Some(json!({"offset": found.offset})));
            }
            "close" => wait(client.close())?,
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}

/// The only result: each call asks for a single thing.
fn only<K: Eq + Hash, V>(results: HashMap<K, Result<V, KrafkaError>>) -> Result<V, Failure> {
    let told = results.into_values().next();
    Ok(told.ok_or_else(|| Failure::named("NoResult", "the client returned nothing for it"))??)
}
