// Driver: rust-rdkafka, of the package rdkafka

//! Drives rdkafka, the Rust client that wraps librdkafka: docs/drivers.md.

mod consumer;
mod lines;
mod producer;

use rdkafka::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::KafkaError;
use serde_json::{Value, json};

use lines::{Call, Failure, Handle, Lines};

/// Settings of producers, of consumers and of both, which librdkafka has by the same names.
const PRODUCES: [&str; 5] = [
    "acks",
    "enable.idempotence",
    "linger.ms",
    "transaction.timeout.ms",
    "transactional.id",
];
const CONSUMES: [&str; 8] = [
    "auto.offset.reset",
    "enable.auto.commit",
    "group.id",
    "group.protocol",
    "heartbeat.interval.ms",
    "isolation.level",
    "max.poll.interval.ms",
    "session.timeout.ms",
];
const BOTH: [&str; 12] = [
    "enable.sasl.oauthbearer.unsecure.jwt",
    "sasl.oauthbearer.config",
    "bootstrap.servers",
    "client.id",
    "retry.backoff.ms",
    "sasl.mechanism",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
];

/// Those that librdkafka calls otherwise.
const PRODUCES_BY: [(&str, &str); 3] = [
    ("max.request.size", "message.max.bytes"),
    ("delivery.timeout.ms", "message.timeout.ms"),
    ("request.timeout.ms", "socket.timeout.ms"),
];
const CONSUMES_BY: [(&str, &str); 2] = [
    ("fetch.max.wait.ms", "fetch.wait.max.ms"),
    ("request.timeout.ms", "socket.timeout.ms"),
];

fn names(
    kind: &str,
) -> (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
) {
    match kind {
        "producer" => (&PRODUCES, &PRODUCES_BY),
        _ => (&CONSUMES, &CONSUMES_BY),
    }
}

/// The settings that a kind of handle takes.
fn taken(kind: &str) -> Vec<&'static str> {
    let (same, renamed) = names(kind);
    let renamed = renamed.iter().map(|(java, _)| *java);
    same.iter()
        .chain(BOTH.iter())
        .copied()
        .chain(renamed)
        .collect()
}

/// Librdkafka's name for a setting, if it has one.
fn own<'a>(name: &'a str, kind: &str) -> Option<&'a str> {
    let (same, renamed) = names(kind);
    let other = renamed.iter().find(|(java, _)| *java == name);
    other
        .map(|(_, own)| *own)
        .or((same.contains(&name) || BOTH.contains(&name)).then_some(name))
}

/// What the library calls of its own accord.
pub struct Told {
    handle: String,
    lines: Lines,
}

impl ClientContext for Told {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        eprintln!("{level:?} {facility} {message}");
    }

    fn error(&self, error: KafkaError, _reason: &str) {
        let said = json!({"error": described(&error)});
        self.lines.event(&self.handle, "error", said);
    }
}

pub fn described(error: &KafkaError) -> Value {
    if let KafkaError::Transaction(said) = error {
        let code = said.code() as i32;
        return json!({
            "name": format!("{:?}", said.code()),
            "message": said.string(),
            "code": (code > 0).then_some(code),
            "fatal": said.is_fatal(),
            "retriable": said.is_retriable(),
            "abortable": said.txn_requires_abort(),
        });
    }
    let Some(code) = error.rdkafka_error_code() else {
        let text = format!("{error:?}");
        let name = text
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or("KafkaError");
        return json!({"name": name, "message": error.to_string()});
    };
    json!({
        "name": format!("{code:?}"),
        "message": error.to_string(),
        "code": (code as i32 > 0).then_some(code as i32),
        "fatal": matches!(error, KafkaError::MessageConsumptionFatal(_)).then_some(true),
    })
}

impl From<KafkaError> for Failure {
    fn from(error: KafkaError) -> Self {
        Failure(described(&error))
    }
}

fn configured(call: &Call) -> ClientConfig {
    let mut config = ClientConfig::new();
    if call.text("kind") == "consumer" {
        config.set("group.id", "none"); // it assigns no partitions without one
    }
    for (name, value) in call.config() {
        if let Some(own) = own(name, call.text("kind")) {
            config.set(own, value);
        }
    }
    config
}

fn open(call: &Call, lines: Lines) -> Result<Box<dyn Handle>, Failure> {
    let told = Told {
        handle: call.handle.clone(),
        lines,
    };
    let config = configured(call);
    match call.text("kind") {
        "producer" => producer::open(call, config, told),
        "consumer" => consumer::open(call, config, told),
        _ => Err(call.unsupported()),
    }
}

fn main() {
    let (_, librdkafka) = rdkafka::util::get_rdkafka_version();
    let client = format!(
        "rdkafka for Rust {} (librdkafka {librdkafka})",
        env!("RDKAFKA")
    );
    let capabilities = [
        "groups",
        "assign",
        "group-assign",
        "idempotence",
        "transactions",
        "send-offsets",
    ];
    let settings = json!({"producer": taken("producer"), "consumer": taken("consumer")});
    lines::serve(&client, &capabilities, settings, &[], open);
}
