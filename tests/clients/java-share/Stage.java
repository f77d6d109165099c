import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** What one case has of a cluster: a topic and a group named after it, which begins with the earliest records, and
 * clients, which are closed at its end. */
final class Stage implements AutoCloseable {
    static final long LIMIT_MS = 60_000;

    /** What somebody else has to do to the cluster, who answers when it is done. */
    interface Hands {
        void act(String verb, String what) throws Exception;
    }

    final String topic;
    final String group;
    final Admin admin;
    private final String servers;
    private final Hands hands;
    private final Map<String, Uuid> ids = new HashMap<>();
    private final Map<String, KafkaProducer<String, String>> producers = new HashMap<>();
    private final List<Member> members = new ArrayList<>();

    Stage(String servers, String name, Hands hands) {
        this.servers = servers;
        this.hands = hands;
        this.topic = name;
        this.group = name + "-group";
        this.admin = Admin.create(Map.of("bootstrap.servers", servers));
    }

    void begin(int replicas) throws Exception {
        create(topic, 1, replicas);
        configure("share.auto.offset.reset", "earliest");
    }

    @Override
    public void close() {
        for (Member each : members) {
            each.close();
        }
        producers.values().forEach(each -> each.close(Duration.ofSeconds(5)));
        admin.close(Duration.ofSeconds(5));
    }

    void act(String verb, String what) throws Exception {
        hands.act(verb, what);
    }

    // -- topics and configurations

    String create(String name, int partitions, int replicas, String... configs) throws Exception {
        NewTopic made = new NewTopic(name, partitions, (short) replicas).configs(pairs(configs));
        ids.put(name, admin.createTopics(Set.of(made)).topicId(name).get());
        return name;
    }

    String another(String suffix) throws Exception {
        return create(topic + "-" + suffix, 1, 1);
    }

    Uuid id(String name) {
        return ids.get(name);
    }

    void delete(String name) throws Exception {
        admin.deleteTopics(Set.of(name)).all().get();
        until("no " + name, () -> {
            try {
                admin.describeTopics(Set.of(name)).allTopicNames().get();
                return false;
            } catch (ExecutionException error) {
                return error.getCause() instanceof UnknownTopicOrPartitionException;
            }
        });
    }

    void deleteBefore(long offset) throws Exception {
        admin.deleteRecords(Map.of(first(), RecordsToDelete.beforeOffset(offset))).all().get();
    }

    void configure(String... configs) throws Exception {
        configureGroup(group, configs);
    }

    /** Returns when brokers say so, too. */
    void configureGroup(String name, String... configs) throws Exception {
        alter(new ConfigResource(ConfigResource.Type.GROUP, name), configs);
    }

    void configureTopic(String name, String... configs) throws Exception {
        alter(new ConfigResource(ConfigResource.Type.TOPIC, name), configs);
    }

    private void alter(ConfigResource resource, String... configs) throws Exception {
        List<AlterConfigOp> changes = new ArrayList<>();
        pairs(configs).forEach((key, value) ->
            changes.add(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)));
        admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
        for (Map.Entry<String, String> each : pairs(configs).entrySet()) {
            until(each + " of " + resource.name(), () -> each.getValue().equals(configured(resource, each.getKey())));
        }
    }

    String configured(ConfigResource resource, String key) throws Exception {
        ConfigEntry found = admin.describeConfigs(List.of(resource)).all().get().get(resource).get(key);
        return found == null ? null : found.value();
    }

    // -- offsets

    TopicPartition first() {
        return new TopicPartition(topic, 0);
    }

    /** None if the group has not begun to read. */
    SharePartitionOffsetInfo offsets(TopicPartition of) throws Exception {
        ListShareGroupOffsetsSpec asked = new ListShareGroupOffsetsSpec().topicPartitions(List.of(of));
        return admin.listShareGroupOffsets(Map.of(group, asked)).partitionsToOffsetInfo(group).get().get(of);
    }

    void lags(long expected) throws Exception {
        lags(first(), expected);
    }

    void lags(TopicPartition of, long expected) throws Exception {
        until("lag of " + expected, () -> {
            SharePartitionOffsetInfo found = offsets(of);
            return found != null && found.lag().equals(java.util.Optional.of(expected));
        });
    }

    /** How many members of a group have been assigned something. */
    long assigned(String name) throws Exception {
        try {
            return admin.describeShareGroups(Set.of(name)).all().get().get(name).members().stream()
                .filter(each -> !each.assignment().topicPartitions().isEmpty()).count();
        } catch (ExecutionException error) {
            return 0;
        }
    }

    int leader(String name, int partition) throws Exception {
        return admin.describeTopics(Set.of(name)).allTopicNames().get().get(name).partitions().get(partition)
            .leader().id();
    }

    // -- records

    KafkaProducer<String, String> producer(String... configs) {
        Map<String, String> given = pairs(configs);
        return producers.computeIfAbsent(given.toString(), key -> {
            Properties all = new Properties();
            all.put("bootstrap.servers", servers);
            all.putAll(given);
            return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
        });
    }

    RecordMetadata send(String value) throws Exception {
        return sendTo(topic, value);
    }

    RecordMetadata sendTo(String name, String value) throws Exception {
        return producer().send(new ProducerRecord<>(name, 0, "key " + value, value)).get();
    }

    /** One batch. */
    void fill(int count) {
        KafkaProducer<String, String> patient = producer("linger.ms", "5000", "batch.size", "1000000");
        for (int each = 0; each < count; each++) {
            patient.send(new ProducerRecord<>(topic, 0, "key " + each, "value " + each));
        }
        patient.flush();
    }

    /** Of no group. */
    KafkaConsumer<String, String> reader() {
        Map<String, Object> config = Map.of("bootstrap.servers", servers);
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }

    // -- members

    Member member(String... configs) {
        return memberOf(group, configs);
    }

    Member explicit(String... configs) {
        List<String> all = new ArrayList<>(List.of(configs));
        all.addAll(List.of("share.acknowledgement.mode", "explicit"));
        return memberOf(group, all.toArray(new String[0]));
    }

    Member memberOf(String name, String... configs) {
        return memberOf(name, new StringDeserializer(), configs);
    }

    Member memberOf(String name, StringDeserializer values, String... configs) {
        Properties all = new Properties();
        all.putAll(Map.of("bootstrap.servers", servers, "group.id", name));
        all.putAll(pairs(configs));
        Member made = new Member(all, values, first());
        members.add(made);
        return made;
    }

    // -- waiting

    /** Until what the member has acquired by now is not locked any more. */
    void waitForLock(Member member) throws Exception {
        int lock = member.consumer.acquisitionLockTimeoutMs().orElseThrow();
        long end = System.currentTimeMillis() + lock + lock / 4;
        until("the end of a lock", () -> System.currentTimeMillis() > end);
    }

    interface Condition {
        boolean met() throws Exception;
    }

    static void until(String what, Condition condition) throws Exception {
        long end = System.currentTimeMillis() + LIMIT_MS;
        while (!condition.met()) {
            check(System.currentTimeMillis() < end, "not within " + LIMIT_MS + " ms: " + what);
            Thread.sleep(20);
        }
    }

    // -- checks

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    static void same(Object expected, Object found) {
        check(expected.equals(found), "expected " + expected + ", found " + found);
    }

    interface Attempt {
        void run() throws Exception;
    }

    static <E extends Throwable> E fails(Class<E> kind, Attempt attempt) {
        try {
            attempt.run();
        } catch (Throwable error) {
            Throwable found = error instanceof ExecutionException ? error.getCause() : error;
            check(kind.isInstance(found), "expected " + kind.getSimpleName() + ", found " + found);
            return kind.cast(found);
        }
        throw new AssertionError("expected " + kind.getSimpleName() + ", but nothing failed");
    }

    static List<String> values(Iterable<ConsumerRecord<String, String>> records) {
        List<String> found = new ArrayList<>();
        records.forEach(each -> found.add(each.value()));
        return found;
    }

    static Map<String, String> pairs(String... words) {
        Map<String, String> found = new HashMap<>();
        for (int each = 0; each < words.length; each += 2) {
            found.put(words[each], words[each + 1]);
        }
        return found;
    }
}
