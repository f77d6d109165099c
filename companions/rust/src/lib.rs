//! A Kafka cluster of a test's own, which behaves as the release that you choose, and in which things go wrong when
//! you say so.
//!
//! ```no_run
//! use mockbroker::{Action, Cluster, Fault, Options, When};
//!
//! let cluster = Cluster::start(Options::new().kafka("3.9").topics([("orders", 1)]));
//! let lost = cluster.add_fault(Fault::new(Action::Disconnect).api("Produce").when(When::After).nth(1));
//! // ... your application, with cluster.bootstrap_servers() ...
//! assert_eq!((cluster.records("orders").len(), lost.hits()), (1, 1));
//! ```
//!
//! Whatever is asked of a cluster panics at the line that asks if it can't be done, as assertions do;
//! [`Cluster::try_start`] and [`Cluster::ask`] give an [`Error`] instead.

mod cluster;
mod error;
mod fault;
mod faults;
mod http;
mod options;
mod pairs;
mod process;
mod verbs;

pub use cluster::{Cluster, Committed, Record};
pub use error::Error;
pub use fault::*;
pub use faults::AddedFault;
pub use options::*;
pub use serde_json::{json, Value};
