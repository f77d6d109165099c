use krafka::auth::{AuthConfig, TlsConfig};

use crate::lines::{Call, Failure};

pub const SETTINGS: [&str; 7] = [
    "sasl.mechanism",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
];

/// How to get in, if a cluster asks for that.
pub fn security(call: &Call) -> Result<Option<AuthConfig>, Failure> {
    let protocol = call
        .setting("security.protocol")
        .unwrap_or_default()
        .to_uppercase();
    let mut config = AuthConfig::plaintext();
    if protocol.starts_with("SASL") {
        let user = call.setting("sasl.username").unwrap_or_default();
        let password = call.setting("sasl.password").unwrap_or_default();
        config = match call.setting("sasl.mechanism").unwrap_or_default().as_str() {
            "PLAIN" => AuthConfig::sasl_plain(user, password),
            "SCRAM-SHA-256" => AuthConfig::sasl_scram_sha256(user, password),
            "SCRAM-SHA-512" => AuthConfig::sasl_scram_sha512(user, password),
            other => {
                let text = format!("the driver has no mechanism {other}");
                return Err(Failure::named("unsupported", &text));
            }
        };
    }
    if protocol.ends_with("SSL") {
        let mut tls = TlsConfig::new();
        if let Some(path) = call.setting("ssl.ca.location") {
            tls = tls.with_ca_cert(path);
        }
        let pair = (
            call.setting("ssl.certificate.location"),
            call.setting("ssl.key.location"),
        );
        if let (Some(certificate), Some(key)) = pair {
            tls = tls.with_client_cert(certificate, key);
        }
        config = config.with_tls(tls);
    }
    Ok((!protocol.is_empty() && protocol != "PLAINTEXT").then_some(config))
}
