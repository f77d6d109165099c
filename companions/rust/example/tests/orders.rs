use example::{read_orders, write_order};
use mockbroker::{Action, Cluster, Fault, Options, When};

#[tokio::test]
async fn an_order_is_written_once_if_a_connection_is_lost() {
    let cluster = Cluster::start(Options::new().kafka("3.9").topics([("orders", 1)]));
    let lost = cluster.add_fault(Fault::new(Action::Disconnect).api("Produce").when(When::Before).nth(1));
    write_order(cluster.addresses(), "order 1").await.unwrap(); // your application
    assert_eq!((cluster.records("orders").len(), lost.hits()), (1, 1));
}

/// The broker appends the record, and the connection is lost before its answer. rskafka has no idempotent producer:
/// it sends the record again.
#[tokio::test]
async fn an_order_is_written_twice_if_the_answer_is_lost() {
    let cluster = Cluster::start(Options::new().topics([("orders", 1)]));
    cluster.add_fault(Fault::new(Action::Disconnect).api("Produce").when(When::After).nth(1));
    write_order(cluster.addresses(), "order 1").await.unwrap();
    assert_eq!(read_orders(cluster.addresses()).await.unwrap(), ["order 1", "order 1"]);
}

#[tokio::test]
async fn orders_go_on_when_the_leader_moves() {
    let cluster = Cluster::start(Options::new().topics([("orders", 1)]));
    write_order(cluster.addresses(), "order 1").await.unwrap();
    cluster.move_leader("orders", 0);
    write_order(cluster.addresses(), "order 2").await.unwrap();
    assert_eq!(read_orders(cluster.addresses()).await.unwrap(), ["order 1", "order 2"]);
}

#[tokio::test]
async fn an_order_is_written_after_an_error_that_passes() {
    let passes = Fault::new(Action::Error).error("NOT_LEADER_OR_FOLLOWER").api("Produce").times(2);
    let cluster = Cluster::start(Options::new().topics([("orders", 1)]).faults([passes.when(When::Instead)]));
    write_order(cluster.addresses(), "order 1").await.unwrap();
    assert_eq!(cluster.records("orders").len(), 1);
}
