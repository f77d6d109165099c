use rskafka::client::Client;
use rskafka::client::partition::OffsetAt;
use serde_json::json;

use crate::lines::{Call, Done, Handle};
use crate::{partition, within};

/// The client can't change configurations or add partitions.
struct Administers(Client);

pub fn open(client: Client) -> Box<dyn Handle> {
    Box::new(Administers(client))
}

impl Handle for Administers {
    fn call(&self, call: &Call) -> Done {
        let limit = call.timeout();
        let limit_ms = limit.as_millis() as i32;
        let (topic, number, offset) = call.place();
        match call.verb.as_str() {
            "create-topic" => {
                let controller = self.0.controller_client()?;
                let partitions = call.number("partitions").unwrap_or(1) as i32;
                let replicas = call.number("replication_factor").unwrap_or(1) as i16;
                let created = controller.create_topic(topic, partitions, replicas, limit_ms);
                within(limit, created)??;
            }
            "delete-topic" => {
                let controller = self.0.controller_client()?;
                within(limit, controller.delete_topic(topic, limit_ms))??;
            }
            // It returns nothing.
            "delete-records" => {
                let found = partition(&self.0, &topic, number)?;
                within(limit, found.delete_records(offset, limit_ms))??;
            }
            "list-offsets" => {
                let found = partition(&self.0, &topic, number)?;
                let at = match call.text("at") {
                    "earliest" => OffsetAt::Earliest,
                    _ => OffsetAt::Latest,
                };
                let offset = within(limit, found.get_offset(at))??;
                return Ok(Some(json!({"offset": offset})));
            }
            "close" => (),
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}
