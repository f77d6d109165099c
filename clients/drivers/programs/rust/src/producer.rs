use std::time::Duration;

use rdkafka::Message;
use rdkafka::config::{ClientConfig, FromClientConfigAndContext};
use rdkafka::producer::{
    BaseRecord, DeliveryResult, Producer, ProducerContext, PurgeConfig, ThreadedProducer,
};
use serde_json::{Value, json};

use crate::Told;
use crate::consumer::{group_metadata, partitions};
use crate::lines::{Call, Done, Failure, Handle, Lines};

const LAST: Duration = Duration::from_secs(1);

impl ProducerContext for Told {
    type DeliveryOpaque = Box<u64>;

    fn delivery(&self, result: &DeliveryResult<'_>, id: Box<u64>) {
        let said = match result {
            Ok(message) => {
                Ok(json!({"partition": message.partition(), "offset": message.offset()}))
            }
            Err((error, _)) => Err(Failure::from(error.clone())),
        };
        self.lines.answer(*id, said);
    }
}

struct Sends {
    producer: ThreadedProducer<Told>,
    lines: Lines,
}

pub fn open(call: &Call, config: ClientConfig, told: Told) -> Result<Box<dyn Handle>, Failure> {
    let lines = told.lines.clone();
    let producer = ThreadedProducer::from_config_and_context(&config, told)?;
    if config.get("transactional.id").is_some() {
        producer.init_transactions(call.timeout())?;
    }
    Ok(Box::new(Sends { producer, lines }))
}

impl Handle for Sends {
    fn call(&self, call: &Call) -> Done {
        let producer = &self.producer;
        match call.verb.as_str() {
            "produce" => {
                self.produce(call);
                return Ok(None);
            }
            "flush" => producer.flush(call.timeout())?,
            "begin" => producer.begin_transaction()?,
            "send-offsets" => {
                let group = group_metadata(call.text("consumer"))?;
                let offsets = partitions(call.list("offsets"))?;
                producer.send_offsets_to_transaction(&offsets, &group, call.timeout())?;
            }
            "commit-transaction" => producer.commit_transaction(call.timeout())?,
            "abort-transaction" => producer.abort_transaction(call.timeout())?,
            "close" => {
                let flushed = producer.flush(call.timeout());
                producer.purge(PurgeConfig::default().queue().inflight());
                flushed.and(producer.flush(LAST))?;
            }
            _ => return Err(call.unsupported()),
        }
        Ok(Some(Value::Object(Default::default())))
    }
}

impl Sends {
    fn produce(&self, call: &Call) {
        let (key, value) = (call.bytes("key"), call.bytes("value"));
        let record = BaseRecord {
            topic: call.text("topic"),
            partition: call.number("partition").map(|number| number as i32),
            payload: value.as_ref(),
            key: key.as_ref(),
            timestamp: None,
            headers: None,
            delivery_opaque: Box::new(call.id),
        };
        if let Err((error, _)) = self.producer.send(record) {
            self.lines.answer(call.id, Err(error.into()));
        }
    }
}
