//! What a cluster has, is told and refuses.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;
use std::time::Duration;

use mockbroker::{json, Action, Clock, Cluster, Fault, Options, ProduceOptions, Value, When};

/// One broker, and a topic with one partition.
fn small() -> Options {
    Options::new().brokers(1).topics([("orders", 1)])
}

/// What a panic says.
fn panics(test: impl FnOnce()) -> String {
    let said = catch_unwind(AssertUnwindSafe(test)).expect_err("it passes");
    said.downcast_ref::<String>().expect("a panic with values").clone()
}

/// Sends a request that faults can act on.
fn ask_versions(cluster: &Cluster) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(cluster.bootstrap_servers()).unwrap();
    // ApiVersions, version 0, correlation id 1, no client id
    stream.write_all(&[0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]).unwrap();
    let _ = stream.read(&mut [0; 4]);
}

#[test]
fn records_are_there_and_the_cluster_is_gone_once_it_is_dropped() {
    let cluster = Cluster::start(Options::new().kafka("3.9").brokers(2).topics([("orders", 1)]));
    cluster.produce_with("orders", "order 1", ProduceOptions::new().key("a").partition(0));
    cluster.produce("orders", "order 2");
    let found: Vec<_> =
        cluster.records("orders").into_iter().map(|each| (each.offset, each.key, each.value)).collect();
    assert_eq!(found[0], (0, Some("a".to_owned()), Some("order 1".to_owned())));
    assert_eq!(found[1], (1, None, Some("order 2".to_owned())));
    assert_eq!((cluster.kafka(), cluster.brokers(), cluster.addresses().len()), ("3.9", 2, 2));
    assert_eq!(cluster.stop_broker(2)["id"], 2);
    let addresses = cluster.addresses();
    drop(cluster);
    assert!(addresses.iter().all(|each| std::net::TcpStream::connect(each).is_err()));
}

#[test]
fn names_with_any_character_are_one_segment_of_a_path() {
    let cluster = Cluster::start(Options::new().brokers(1));
    cluster.configure_group("a/b %ü", [("share.auto.offset.reset", "earliest")]);
    let told = panics(|| drop(cluster.committed("a/b %ü")));
    assert!(told.contains("no group 'a/b %ü'"), "{told}");
}

#[test]
fn time_moves_by_hand_only() {
    let cluster = Cluster::start(small().clock(Clock::Manual).config([("log.retention.ms", "1000")]));
    let before = cluster.advance_clock("1s");
    assert_ne!(cluster.advance_clock("7d"), before);
}

#[test]
fn a_fault_counts_what_it_acted_on() {
    let cluster = Cluster::start(small());
    let fault =
        Fault::new(Action::Disconnect).api(vec!["ApiVersions", "Fetch"]).when(When::After).name("lost");
    let lost = cluster.add_fault(fault);
    assert_eq!((lost.name(), lost.hits()), ("lost", 0));
    lost.pause();
    lost.release();
    ask_versions(&cluster);
    lost.wait(1);
    lost.assert_fired();
    assert_eq!(lost.hits(), 1);
    assert!(panics(|| lost.wait_timeout(9, Duration::from_millis(1))).contains("lost"));
    lost.remove();
}

#[test]
fn a_fault_that_never_fired_fails_the_test() {
    let never = || Fault::new(Action::Disconnect).api("Produce").nth(3);
    let from_the_start = panics(|| drop(Cluster::start(small().faults([never().name("first")]))));
    assert!(from_the_start.contains("fault first never fired: no client sent anything"), "{from_the_start}");
    let removed = panics(|| Cluster::start(small()).add_fault(never().name("lost")).remove());
    assert!(removed.contains("fault lost never fired"), "{removed}");
    let cleared = panics(|| {
        let cluster = Cluster::start(small());
        cluster.add_fault(never().name("lost"));
        cluster.add_fault(never().name("may be").optional(true));
        cluster.clear_faults();
    });
    assert!(cleared.contains("fault lost never fired") && !cleared.contains("may be"), "{cleared}");
    let asserted = panics(|| Cluster::start(small()).add_fault(never()).assert_fired());
    assert!(asserted.contains("never fired"), "{asserted}");
    drop(Cluster::start(small().faults([never().optional(true)])));
}

#[test]
fn mistakes_are_told_in_the_words_of_mockbroker() {
    let error = Cluster::try_start(Options::new().policies([("undefined-epok", "undefined")])).unwrap_err();
    assert!(error.to_string().contains("did you mean 'undefined-epoch'?"), "{error}");
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(panics(|| drop(Cluster::start(Options::new().kafka("12")))).contains("12"));
    let cluster = Cluster::start(small());
    assert!(panics(|| drop(cluster.stop_broker(9))).starts_with("mockbroker: "));
    let error = cluster.ask("POST", "/faults", json!({"do": "disconect"})).unwrap_err();
    assert!(error.to_string().contains("disconnect"), "{error}");
    let error = cluster.ask("POST", "/faults", json!({"do": "disconnect", "api": "Produse"})).unwrap_err();
    assert_eq!(error.field(), Some("api"));
}

#[test]
fn tests_side_by_side_have_a_cluster_each() {
    thread::scope(|scope| {
        for number in 0..10 {
            scope.spawn(move || {
                let topic = format!("topic-{number}");
                let cluster = Cluster::start(Options::new().brokers(1).topics([(topic.as_str(), 1)]));
                cluster.produce(&topic, &topic);
                assert_eq!(cluster.records(&topic)[0].value.as_deref(), Some(topic.as_str()));
            });
        }
    });
}

#[test]
fn what_happened_is_told() {
    let cluster = Cluster::start(small());
    cluster.produce("orders", "order 1");
    assert!(cluster.trace().iter().any(Value::is_object));
    assert_eq!(cluster.hints(), Vec::<String>::new());
}
