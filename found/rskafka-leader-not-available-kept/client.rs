//! A broker is away while a client is made, and comes back. Does the client find the leaders of all partitions then?

use std::{env, process::Command, time::Duration};

use rskafka::client::partition::UnknownTopicHandling;
use rskafka::client::{Client, ClientBuilder};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(15);

async fn client() -> Client {
    let servers = env::var("BOOTSTRAP_SERVERS").unwrap();
    let first = servers.split(',').next().unwrap().to_string();
    ClientBuilder::new(vec![first]).build().await.unwrap()
}

async fn all_found(client: &Client) -> bool {
    let all = (0..6).map(|at| client.partition_client("orders", at, UnknownTopicHandling::Retry));
    timeout(LIMIT, futures::future::try_join_all(all)).await.is_ok()
}

fn run(variable: &str) {
    let command = env::var(variable).unwrap();
    Command::new("sh").args(["-c", &command]).output().unwrap();
}

#[tokio::main]
async fn main() {
    run("LEAVE");
    let early = client().await;
    run("COME_BACK");
    println!("finds all leaders, made while the broker was away: {}", all_found(&early).await);
    println!("finds all leaders, made now: {}", all_found(&client().await).await);
}
