use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures::Stream;
use rskafka::client::Client;
use rskafka::client::consumer::{StartOffset, StreamConsumer, StreamConsumerBuilder};
use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::partition::PartitionClient;
use serde_json::{Value, json};

use crate::lines::{Call, Done, Failure, Handle, encoded};
use crate::{described, partition, wait};

const MOST_RECORDS: usize = 500;

struct Reads {
    client: Client,
    reset: Option<StartOffset>,
    longest: Option<Duration>,
    readings: Mutex<BTreeMap<(String, i32), Reading>>,
}

/// A partition's stream, and where it goes on. A stream ends with its first error.
struct Reading {
    client: Arc<PartitionClient>,
    next: StartOffset,
    stream: Option<Pin<Box<StreamConsumer>>>,
}

pub fn open(call: &Call, client: Client) -> Result<Box<dyn Handle>, Failure> {
    Ok(Box::new(Reads {
        client,
        reset: match call.setting("auto.offset.reset").as_deref() {
            Some("earliest") => Some(StartOffset::Earliest),
            Some("none") => None,
            _ => Some(StartOffset::Latest),
        },
        longest: call.duration("fetch.max.wait.ms"),
        readings: Mutex::default(),
    }))
}

impl Handle for Reads {
    fn call(&self, call: &Call) -> Done {
        let mut readings = self.readings.lock().unwrap();
        match call.verb.as_str() {
            "assign" => {
                readings.clear();
                for (topic, number, offset) in call.places("partitions") {
                    let start = offset.map(StartOffset::At).or(self.reset);
                    readings.insert(
                        (topic.clone(), number),
                        self.reading(&topic, number, start)?,
                    );
                }
            }
            "poll" => return Ok(Some(self.poll(&mut readings, call.timeout()))),
            "seek" => {
                let (topic, number, offset) = call.place();
                let start = Some(match call.text("to") {
                    "beginning" => StartOffset::Earliest,
                    "end" => StartOffset::Latest,
                    _ => StartOffset::At(offset),
                });
                readings.insert(
                    (topic.clone(), number),
                    self.reading(&topic, number, start)?,
                );
            }
            "close" => readings.clear(),
            _ => return Err(call.unsupported()),
        }
        Ok(Some(json!({})))
    }
}

impl Reads {
    fn reading(
        &self,
        topic: &str,
        number: i32,
        start: Option<StartOffset>,
    ) -> Result<Reading, Failure> {
        Ok(Reading {
            client: partition(&self.client, topic, number)?,
            next: start.unwrap_or(StartOffset::Earliest),
            stream: None,
        })
    }

    fn poll(&self, readings: &mut BTreeMap<(String, i32), Reading>, limit: Duration) -> Value {
        for each in readings.values_mut() {
            each.stream.get_or_insert_with(|| {
                let mut builder = StreamConsumerBuilder::new(each.client.clone(), each.next);
                if let Some(longest) = self.longest {
                    builder = builder.with_max_wait_ms(longest.as_millis() as i32);
                }
                Box::pin(builder.build())
            });
        }
        let (mut records, mut errors) = (vec![], vec![]);
        let some = poll_fn(|context| {
            for ((topic, number), each) in readings.iter_mut() {
                while records.len() < MOST_RECORDS {
                    let Some(stream) = each.stream.as_mut() else {
                        break;
                    };
                    match stream.as_mut().poll_next(context) {
                        Poll::Pending => break,
                        Poll::Ready(Some(Ok((read, _)))) => {
                            each.next = StartOffset::At(read.offset + 1);
                            records.push(json!({
                                "topic": topic,
                                "partition": number,
                                "offset": read.offset,
                                "key": encoded(read.record.key.as_deref()),
                                "value": encoded(read.record.value.as_deref()),
                            }));
                        }
                        Poll::Ready(Some(Err(error))) => {
                            errors.push(described(&error));
                            each.stream = None;
                            if let (true, Some(reset)) = (is_out_of_range(&error), self.reset) {
                                each.next = reset;
                            }
                        }
                        Poll::Ready(None) => each.stream = None,
                    }
                }
            }
            if records.is_empty() && errors.is_empty() {
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        let _ = wait(async { tokio::time::timeout(limit, some).await });
        json!({"records": records, "errors": errors})
    }
}

fn is_out_of_range(error: &Error) -> bool {
    let Error::ServerError { protocol_error, .. } = error else {
        return false;
    };
    *protocol_error == ProtocolError::OffsetOutOfRange
}
