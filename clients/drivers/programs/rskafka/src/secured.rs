use std::sync::Arc;

use rskafka::client::{Credentials, SaslConfig};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

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

fn protocol(call: &Call) -> String {
    call.setting("security.protocol").unwrap_or_default()
}

fn unread(error: impl std::fmt::Display) -> Failure {
    Failure::named("pem", &error.to_string())
}

fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let found = CertificateDer::pem_file_iter(path).map_err(unread)?;
    found.collect::<Result<_, _>>().map_err(unread)
}

/// `None` without TLS.
pub fn tls(call: &Call) -> Result<Option<Arc<ClientConfig>>, Failure> {
    if !protocol(call).ends_with("SSL") {
        return Ok(None);
    }
    let mut roots = RootCertStore::empty();
    if let Some(path) = call.setting("ssl.ca.location") {
        roots.add_parsable_certificates(certificates(&path)?);
    }
    let config = ClientConfig::builder().with_root_certificates(roots);
    let pair = (
        call.setting("ssl.certificate.location"),
        call.setting("ssl.key.location"),
    );
    Ok(Some(Arc::new(match pair {
        (Some(certificate), Some(key)) => config
            .with_client_auth_cert(
                certificates(&certificate)?,
                PrivateKeyDer::from_pem_file(key).map_err(unread)?,
            )
            .map_err(unread)?,
        _ => config.with_no_client_auth(),
    })))
}

/// `None` without a login.
pub fn sasl(call: &Call) -> Result<Option<SaslConfig>, Failure> {
    if !protocol(call).starts_with("SASL") {
        return Ok(None);
    }
    let text = |name| call.setting(name).unwrap_or_default();
    let user = Credentials::new(text("sasl.username"), text("sasl.password"));
    match text("sasl.mechanism").as_str() {
        "PLAIN" => Ok(Some(SaslConfig::Plain(user))),
        "SCRAM-SHA-256" => Ok(Some(SaslConfig::ScramSha256(user))),
        "SCRAM-SHA-512" => Ok(Some(SaslConfig::ScramSha512(user))),
        other => {
            let text = format!("the driver has no mechanism {other}");
            Err(Failure::named("unsupported", &text))
        }
    }
}
