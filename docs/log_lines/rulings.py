"""Which statements tell nothing of what is searched for, and why: the first ruling that fits holds."""

import re
from typing import Final, NamedTuple

REASONS: Final = {
    "lifecycle": "a part of the program, a thread, or a task of its own starts, stops, waits or is resized",
    "settings": "a setting, a version, a feature or a quota, as it was read or changed; or advice about it",
    "security": "signing in, tokens, ACLs, certificates",
    "connections": "a connection, or a request that is sent again: its outcome is in another line",
    "metrics": "metrics, telemetry, JMX",
    "tiered": "remote storage, which is not searched",
    "zookeeper": "ZooKeeper, or the migration from it",
    "quorum": "the controllers' own log, its votes and snapshots",
    "controller": "a step of the controller's, whose outcome is in another line",
    "files": "files of a log that are renamed, rolled, or cleaned: offsets are told by other lines",
    "replicas": "a step of a replica's, or of a controller's request, whose outcome is in another line",
    "coordinator": "a step of a coordinator's, whose outcome is in another line",
    "client": "a step of a client's, whose outcome is in another line",
    "share": "a step of a share group's, whose outcome is in its state; or of a Streams group's, which logs "
    "are not searched for",
    "assignor": "how an assignment came about",
    "admin": "what an administrator's client was answered",
    "wordless": "a text without words of its own: no line is known by it",
}


class Ruling(NamedTuple):
    """`where` are classes or files, `text` is within the template; `loud` rules WARN and ERROR too."""

    reason: str
    where: str
    text: str = ""
    loud: bool = False


RULINGS: Final = (
    # At any level
    Ruling(
        "tiered",
        r"Remote\w*|RLM\w*|Tier\w*|TopicBasedRemote\w*|ConsumerTask|ConsumerManager|"
        r"ProducerManager|FileBasedRemote\w*",
    ),
    Ruling("zookeeper", r"\w*(?:Zk|ZooKeeper|Zookeeper|ZNode|Migration)\w*|FinalizedFeature\w*"),
    Ruling(
        "security",
        r"\w*(?:Kerberos|OAuth|Sasl|Ssl|Scram|Acl|Authorizer|Login|Jwt|JWT|Assertion|Credential|"
        r"DelegationToken|"
        r"PrincipalBuilder|TrustManager|Jaas|JAAS|Keystore|Certificate|AccessToken|"
        r"RefreshingHttpsJwks|gssapi|HostResolver)\w*(?:\.\w+)?|"
        r"rdkafka_s(?:sl|asl)\w*(?::\w+)?|kafka\.sasl\.\w+|kafka\.net\.sasl\.\w+|"
        r"aiokafka\.helpers|scram\w*|gssapi_kerberos|"
        r"acl_\w+|authenticator\w*/\w+|saslAuthenticator/\w+",
    ),
    Ruling(
        "security",
        r".*",
        r"SASL|[Aa]uthenticat(?:ed|ion)\b.*(?:succe|via|with|as )|TLS|\bSSL|[Kk]erberos|"
        r"(?:delegation|access) token|truststore|keystore"
        r"|CA certificate",
    ),
    Ruling(
        "metrics",
        r"\w*(?:Metrics?|Telemetry|Jmx|JMX|Mx4j|Histogram|Yammer|Sensor|EventPerformance|"
        r"Gauge)\w*|metrics_714",
        loud=True,
    ),
    Ruling("metrics", r".*", r"\b[Mm]etrics?\b|JMX|[Tt]elemetry|MBean|mx4j", loud=True),
    Ruling(
        "share",
        r"SharePartition|ShareCoordinatorShard|SharePartitionManager",
        # A state that is deleted twice; an older leader, which tells itself that it could not write; a
        # session that is begun anew.
        r"delete non-existent share|request leader epoch is smaller than last recorded|"
        r"no such share session found",
        loud=True,
    ),
    Ruling(
        "share",
        r"\w*(?:Share|Streams)\w*|consumer_share|share_\w+|InternalTopicManager|RecordsIterator|"
        r"InFlightState|"
        r"DefaultStatePersister|PersisterStateManager|StateBatch\w*|TopologyParser|"
        r"EndpointToPartitionsManager|TasksTupleWithEpochs|"
        r"AcknowledgeRequestState|NetworkPartitionMetadataClient|NoOpStatePersister",
    ),
    Ruling(
        "share",
        r".*",
        r"\b[Ss]hare(?:-| )(?:group|partition|session|coordinator|state|fetch)|[Ss]treams "
        r"(?:group|member)|ShareFetch|ShareAck|topology",
    ),
    Ruling(
        "admin",
        r"(?:Describe|List|Delete|Alter|Remove|Fence|Abort|Create)\w*Handler",
        r"`?\w+`? (?:request|response) for|(?:Describe|List|Delete|Alter|Remove|Fence|Abort)\w* "
        r"(?:request|response)",
        loud=True,
    ),
    Ruling(
        "admin",
        r"KafkaAdminClient|AdminApiDriver|AdminMetadataManager|(?:Describe|List|Delete|Alter|"
        r"Remove|Fence|Abort|Create)\w*Handler|admin|admin/index|kafka\.admin\.\w+|aiokafka\.admin\.\w+|"
        r"PartitionLeaderStrategy|CoordinatorStrategy|AdminClient\w*",
        loud=True,
    ),
    Ruling(
        "settings",
        r"\w*Config\w*|config|configs|conf|VerifiableProperties|rdkafka_conf\w*(?::\w+)?|"
        r"ConfigHandler|\w*ConfigProvider|CoreUtils|"
        r"Feature\w*|SupportedVersionRange|DynamicBrokerConfig|ProducerConfig|ConsumerConfig|"
        r"AbstractOptions|CommandLine\w*|"
        r"LoggingController|Log4jController|LoggerController|RuntimeLoggerManager|\w*QuotaManager|"
        r"\w*QuotaControlManager|AppInfoParser|"
        r"BrokerFeatures|KafkaMetricsGroup|ConnectionQuotas|Defaults|EnvVar\w+|MetaProperties\w*",
    ),
    Ruling(
        "settings",
        r".*",
        r"deprecated|unsupported config|\bconfig(?:uration)?s?\b.*(?:ignored|overrid|unused|"
        r"unknown|should|will be|was supplied|isn't|not take)|"
        r"[Oo]verriding|[Cc]onsider (?:setting|upgrading|using)|should be (?:equal|larger|greater|"
        r"set)|will not take effect|"
        r"not supported (?:by|on|with)|does not support|[Pp]lease (?:use|set|clear|migrate|upgrade)|"
        r"not recommended for production",
        loud=True,
    ),
    Ruling(
        "assignor",
        r"\w*(?:Assignor|AssignmentBuilder|Assignment)|assignors?\.\w+(?:\.\w+)*|balance_strategy|"
        r"group_balancer|sticky_assignment|"
        r"kafka\.coordinator\.assignors\.\w+(?:\.\w+)*|"
        r"aiokafka\.coordinator\.assignors\.\w+(?:\.\w+)*|partition_movements|"
        r"AbstractStickyAssignor|rdkafka_sticky\w*(?::\w+)?|GeneralUniformAssignmentBuilder|"
        r"UniformHeterogeneousAssignmentBuilder|"
        r"[\w.]*sticky[\w.]*|SubscribedTopicDescriberImpl",
        loud=True,
    ),
    Ruling(
        "quorum",
        r"KafkaRaft\w*|Raft(?!Replica)\w*|Quorum(?:State|StateStore)?|Leader(?:State|AndEpoch)|"
        r"FollowerState|CandidateState|ProspectiveState|"
        r"UnattachedState|VotedState|ResignedState|Voter\w*|(?:Add|Remove|Update)VoterHandler|"
        r"KRaftControlRecord\w*|Replicated\w+|"
        r"Snapshot\w*|Snapshots|KafkaMetadataLog|MetadataLoader|\w*SnapshotEmitter|"
        r"BatchAccumulator|FileBasedStateStore|"
        r"FileQuorumStateStore|TimingWheelExpirationService|LogHistory|RecordsSnapshot\w*|"
        r"BlockingMessageQueue|FileRawSnapshot\w+|"
        r"KafkaNetworkChannel|KafkaRaftClientDriver|PartitionListener|MetadataBatchLoader|"
        r"VoterSetHistory|BrokerMetadata(?:Snapshotter|Listener)|"
        r"MetadataPublisher\w*|DefaultApiVersionManager|TreePrinter|MetadataNode\w*|"
        r"QuorumControllerMetrics|KRaft\w*|DeferredEventQueue",
    ),
    Ruling("quorum", r"QuorumController", r"Performing controller activation", loud=True),
    # At INFO
    Ruling(
        "lifecycle",
        r".*",
        r"^(?:\{\w*\}[ :]*)?(?:[Ss]tart(?:ing|ed|up)?|[Ss]tarting up|[Ss]topp(?:ing|ed)|"
        r"[Ss]hut(?:ting)? ?down|[Cc]los(?:ing|ed)|"
        r"[Ii]nitializ(?:ing|ed|ation)|[Ii]nterrupted?|[Ee]xit(?:ed|ing)|[Tt]erminating|"
        r"[Cc]reating|[Aa]waiting|[Rr]esizing|[Rr]egister(?:ed|ing)|"
        r"[Ee]nabl(?:ing|ed)|[Dd]isabl(?:ing|ed)|[Uu]nregister\w+|Draining|[Ww]aiting|"
        r"Instantiated)\b(?!.*(?:epoch|offset|rebalanc|partition \{|transaction))",
    ),
    Ruling(
        "lifecycle",
        r".*",
        r"[Ss]hut ?down (?:complete|of|initiated)|shut down completed?|(?:thread|executor|"
        r"scheduler|processor|pool|listener|loop)s?\b.*"
        r"(?:start|stop|shut|clos|exit|interrupt|resiz|creat)|signal handlers|graceful shutdown|"
        r"(?:already|not) (?:running|closed|shut)|startup complete|"
        r"event queue|[Tt]imed out waiting for|Finished waiting",
    ),
    Ruling(
        "lifecycle",
        r"(?:Socket|Broker|Kafka|Shared|Controller|KafkaRaft)Server|\w*Scheduler|\w*Thread|"
        r"EndpointReadyFutures|FutureUtils|KafkaRequestHandler|"
        r"DataPlane\w+|Acceptor|Processor|RequestChannel|MultiThreadedEventProcessor|"
        r"PeriodicTask\w+|GarbageCollected\w+|Exit|KafkaEventQueue|"
        r"LoggingSignalHandler|NodeToController(?:Channel|Request)\w+|BrokerToController\w+|"
        r"ControllerRegistrationManager|Kafka\b|EventQueue",
    ),
    Ruling(
        "connections",
        r"NetworkClient|Selector|\w*ChannelBuilder|ClusterConnectionStates|FetchSessionHandler|"
        r"ConsumerNetworkClient|\w*SendThread|"
        r"InterBrokerSend\w+|ControllerChannelManager|broker|client|kafka\.net\.\w+|kafka\.conn|"
        r"aiokafka\.conn|aiokafka\.client|"
        r"kafka\.client_async|conn|dialer|transport|rdkafka_broker(?::\w+)?|"
        r"rdkafka_transport\w*(?::\w+)?|network/\w+|cluster/\w+|"
        r"FetchContext|FetchSession|Metadata|metadata|kafka\.cluster|aiokafka\.cluster|"
        r"AddPartitionsToTxnManager|utils|rdhttp(?::\w+)?|ListenerInfo",
        r"^(?!.*epoch)",
    ),
    Ruling(
        "connections",
        r".*",
        r"[Dd]isconnect|[Cc]onnect(?:ed|ing|ion)\b|[Rr]econnect|[Bb]ootstrap|metadata (?:update|"
        r"refresh)|throttl|brokers are down",
    ),
    Ruling(
        "settings",
        r".*",
        r"^(?:Updat(?:ed|ing)|Reconfigur\w+|Set(?:ting)?|Chang(?:ed|ing)|Resiz\w+|Process(?:ed|"
        r"ing) (?:override|notification))\b.*"
        r"(?:config|quota|rate|limit|size|listener|log level|feature|version|throttle)|"
        r"[Ss]ubscribed to|[Uu]nsubscribed|[Ss]ubscription|"
        r"Kafka (?:version|commitId|startTimeMs)|Cluster ID",
    ),
    Ruling(
        "controller",
        r"KafkaController|ReplicaStateMachine|PartitionStateMachine|TopicDeletionManager|"
        r"ControllerContext|QuorumController|"
        r"Replication(?:ControlManager)?|ClusterControlManager|BrokerHeartbeatManager|"
        r"ConfigurationControlManager|ProducerIdControlManager|"
        r"OffsetControlManager|BrokerRegistrationTracker|AutoTopicCreation\w+|"
        r"AlterPartitionManager|AlterIsrManager|AssignmentsManager|"
        r"PartitionRegistration|PartitionReassignment\w*|ProducerId\w*|TopicsDelta|TopicDelta|"
        r"MetadataCache|RaftMetadataCache|"
        r"BrokerMetadataPublisher|AclPublisher|FeaturesPublisher|Dynamic\w+Publisher|"
        r"ActivationRecordsGenerator|BrokerLifecycleManager|"
        r"StripedReplicaPlacer|LeaderElection\w*|ConfigAdminManager|BrokersToIsrs|RaftReplica\w+|"
        r"PartitionChangeBuilder",
        r"^(?!.*(?:UNCLEAN|unclean leader|Unclean|[Dd]eleted topic|[Cc]ompleted? .*reassign|"
        r"Rejecting AlterPartition|offline|[Ff]ailed|[Ee]rror))",
    ),
    Ruling(
        "files",
        r"Log(?:Manager|Loader|Cleaner|CleanerManager|Segment|Segments|DirFailureChannel|"
        r"Truncation|Config|Recovery)?|UnifiedLog|LocalLog|Cleaner|"
        r"ProducerStateManager|AbstractIndex|OffsetIndex|TimeIndex|TransactionIndex|SnapshotFile|"
        r"LeaderEpoch(?:File)?(?:Cache|Checkpoint\w*)|"
        r"CheckpointFile\w*|AbortedTxn|LazyIndex|FileRecords|\w*Index|LogUtils|LogDir\w*|"
        r"CleanedTransactionMetadata|SkimpyOffsetMap|LogOffsetsListener",
        r"^(?!.*(?:truncation|log recovery|stray|[Ff]ailed|[Ee]rror|[Cc]orrupt|has been deleted|"
        r"overflow|[Ii]nvalid|high ?watermark))",
    ),
    Ruling(
        "coordinator",
        r"GroupCoordinator\w*|GroupMetadata\w*|CoordinatorRuntime|CoordinatorTimer\w*|"
        r"Transaction(?:Coordinator|StateManager|Metadata)|"
        r"TransactionMarker\w+|OffsetMetadataManager|ClassicGroup|ConsumerGroup|"
        r"CoordinatorLoader\w*|EventAccumulator|ModernGroup",
        r"^(?!.*(?:[Ff]ailed|[Ee]rror|\bexpir|fenced|epoch .*(?:changed|match)|failed to join|has "
        r"changed|aborting|no longer|cancel|cannot join))",
    ),
    Ruling(
        "client",
        r"(?:Abstract|Consumer)Coordinator|\w*MembershipManager\w*|\w*RequestManager\w*|(?:Async|"
        r"Classic|Share)?Kafka(?:Consumer|Producer)\w*|"
        r"SubscriptionState|TransactionManager|Sender|ProducerBatch|OffsetFetcher\w*|"
        r"ApplicationEventProcessor|Fetcher|FetchCollector|"
        r"kafka\.(?:coordinator|consumer|producer)\.\w+|kafka\.producer\.\w+|"
        r"aiokafka\.(?:consumer|producer)\.\w+|"
        r"consumer_group(?:_848|_session)?|consumer|producer|txn|sink|source|"
        r"topics_and_partitions|consumergroup|reader|writer|"
        r"consumer/\w+|producer/\w+|async_producer|sync_producer|transaction_manager|"
        r"offset_manager|partition_\w+|rdkafka_\w+(?::\w+)?|interceptors|"
        r"message_reader|sarama|\w*Invoker|acl_bindings|client_\w+|record_accumulator|"
        r"RecordAccumulator|BuiltInPartitioner|\w*RebalanceListener\w*",
        r"^(?!.*(?:[Ff]ail|[Ee]rror|\berr:|\{err\}|\bexpir|fenced|epoch|[Ll]ost|[Rr]eset|truncat|"
        r"[Aa]bort|unstable|reject|out of range|offset \{|not part of|"
        r"illegal|unable|retry|generation|[Cc]rash))",
    ),
    Ruling(
        "replicas",
        r"ReplicaManager|Partition|ReplicaAlterLogDirs\w+|LocalLeaderEndPoint",
        r"^(?:Skipped the become-|Handling |Finished |Ignoring |Transitioning |Stopped fetchers|"
        r"Updating |"
        r"Creating new partition \{tp\} with topic id \{topicId\}\.$|Current log directory|"
        r"Beginning/resuming copy)",
    ),
    Ruling(
        "files",
        r"Log\w*|LocalLog",
        r"Deleting segments as (?:part of log (?:truncation|recovery)|the log has been deleted)|"
        r"overflowed segment|segment overflow|because it (?:does not exist|was already deleted)",
    ),
    # WARN and ERROR that an operator can't act on, and no search needs
    Ruling(
        "lifecycle",
        r".*",
        r"^(?!.*(?:startup|atal error while|message send|stray)).*"
        r"(?:[Ee]rror|[Ff]ailed|[Ee]xception|[Ii]nterrupted|[Uu]nable).{0,40}(?:while |during |to "
        r"|on |when )?(?:clos(?:e|ing)|shut(?:ting)? ?down|stopp?(?:ing)?|"
        r"unregister\w*|wait(?:ing)?)\b|already (?:closed|shut|running|stopped)|in one of the "
        r"threads during|[Cc]lose timeout|[Ii]nterrupted while waiting",
        loud=True,
    ),
)
_COMPILED: Final = [(each, re.compile(each.where), re.compile(each.text)) for each in RULINGS]
_WORDS: Final = re.compile(r"[A-Za-z]{2,}[ ,.'’-]+[A-Za-z]{2,}")


def reason(level: str, where: str, template: str) -> str | None:
    """Why a statement tells nothing; None if it may tell something."""
    fixed = re.split(r"\{\w*\}", template)
    if not any(_WORDS.search(part) for part in fixed):
        return "wordless"
    return next(
        (
            each.reason
            for each, place, text in _COMPILED
            if (each.loud or level == "INFO") and place.fullmatch(where) and text.search(template)
        ),
        None,
    )
