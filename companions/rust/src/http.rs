//! Requests to the control API.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::Error;

/// The status, and a reader of the body, which may go on.
pub(crate) fn open(method: &str, url: &str, values: &Value) -> Result<(u16, BufReader<TcpStream>), Error> {
    exchange(method, url, values).map_err(Error::ended)
}

/// The answer, as JSON.
pub(crate) fn ask(method: &str, url: &str, values: &Value) -> Result<Value, Error> {
    let (status, mut body) = open(method, url, values)?;
    let mut text = String::new();
    body.read_to_string(&mut text).map_err(Error::ended)?;
    if status >= 400 {
        return Err(Error::refusal(&text));
    }
    serde_json::from_str(&text)
        .map_err(|_| Error::new(format!("this is not an answer of mockbroker: {text}")))
}

/// A value as one segment of a path.
pub(crate) fn encode(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let encoded = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    encoded.collect()
}

/// By HTTP/1.0, in which a body ends with the connection and has no chunks.
fn exchange(method: &str, url: &str, values: &Value) -> std::io::Result<(u16, BufReader<TcpStream>)> {
    let rest = url.trim_start_matches("http://");
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    let body = values.to_string();
    let mut stream = TcpStream::connect(host)?;
    let head = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::new(std::io::ErrorKind::InvalidData, "no status"))?;
    while line.trim_end() != "" {
        line.clear();
        answer.read_line(&mut line)?;
    }
    Ok((status, answer))
}
