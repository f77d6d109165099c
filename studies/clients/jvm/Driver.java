import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The scenario with the Java client; one event a line, as JSON, on stdout.
 *
 * Arguments: bootstrap partitions records extra part batch timeout filler, then a plan each:
 * topic,group,codec,assignor,static,idempotent
 */
public final class Driver {
    static String bootstrap, filler;
    static int partitions, records, extra, part, batch;
    static long timeout;

    final String topic, group, codec, assignor;
    final boolean isStatic, idempotent;
    final Map<String, Member> members = new LinkedHashMap<>();
    final Map<String, Set<Integer>> assigned = new HashMap<>();
    final Set<Integer> seen = new HashSet<>(), seenExtra = new HashSet<>();

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        partitions = Integer.parseInt(args[1]);
        records = Integer.parseInt(args[2]);
        extra = Integer.parseInt(args[3]);
        part = Integer.parseInt(args[4]);
        batch = Integer.parseInt(args[5]);
        timeout = Long.parseLong(args[6]);
        filler = args[7];
        for (int i = 8; i < args.length; i++) new Driver(args[i].split(",")).run();
    }

    Driver(String[] plan) {
        topic = plan[0];
        group = plan[1];
        codec = plan[2];
        assignor = plan[3];
        isStatic = Boolean.parseBoolean(plan[4]);
        idempotent = Boolean.parseBoolean(plan[5]);
    }

    void run() throws Exception {
        emit("plan", "topic", quote(topic), "codec", quote(codec), "assignor", quote(assignor),
            "static", isStatic, "idempotent", idempotent);
        try {
            steps();
        } finally {
            leave();
        }
    }

    void steps() throws Exception {
        create();
        produce(0, records);
        emit("produced", "count", records);
        join("a", "a");
        until(() -> seen.size() >= part);
        members.get("a").hold();
        join("b", "b");
        until(this::split);
        members.get("a").release();
        until(() -> seen.size() == records);
        Map<Integer, Long> committed = new HashMap<>();
        for (Member member : members.values()) {
            member.consumer.commitSync();
            committed.putAll(member.committed());
        }
        emit("committed", "offsets", committed.entrySet().stream()
            .map(e -> quote(e.getKey().toString()) + ":" + e.getValue()).collect(Collectors.joining(",", "{", "}")));
        leave();
        produce(records, records + extra);
        emit("restarted");
        join("a2", "a");
        if (isStatic) join("b2", "b");
        until(() -> seenExtra.size() == extra);
        for (Member member : members.values()) member.consumer.commitSync();
        leave();
        emit("done");
    }

    void create() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 3))).all().get(timeout, TimeUnit.SECONDS);
        }
    }

    void produce(int from, int to) throws Exception {
        Map<String, Object> config = new HashMap<>(Map.of(
            "bootstrap.servers", bootstrap, "compression.type", codec, "linger.ms", 20, "acks", "all"));
        if (idempotent) config.put("enable.idempotence", true);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = from; i < to; i++)
                sent.add(producer.send(new ProducerRecord<>(topic, i % partitions, key(i), value(i))));
            producer.flush();
            for (var future : sent) future.get(timeout, TimeUnit.SECONDS);
        }
    }

    void join(String name, String instance) {
        emit("joining", "member", quote(name));
        members.put(name, new Member(instance));
    }

    void leave() {
        for (Member member : members.values()) member.consumer.close();
        members.clear();
    }

    void until(BooleanSupplier done) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeout);
        while (!done.getAsBoolean()) {
            members.forEach(this::poll);
            check(System.nanoTime() < end, "no progress: " + seen.size() + " + " + seenExtra.size() + ", " + assigned);
        }
    }

    boolean split() {
        List<Integer> all = new ArrayList<>();
        for (String name : members.keySet()) {
            Set<Integer> mine = assigned.getOrDefault(name, Set.of());
            if (mine.isEmpty()) return false;
            all.addAll(mine);
        }
        return all.size() == partitions && new HashSet<>(all).size() == partitions;
    }

    void poll(String name, Member member) {
        var polled = member.consumer.poll(Duration.ofMillis(50));
        Set<Integer> now = member.assigned();
        if (!now.equals(assigned.getOrDefault(name, Set.of()))) {
            assigned.put(name, now);
            emit("assigned", "member", quote(name), "partitions", now);
        }
        for (TopicPartition partition : polled.partitions()) {
            List<Long> offsets = new ArrayList<>();
            List<Integer> values = new ArrayList<>();
            for (var record : polled.records(partition)) {
                offsets.add(record.offset());
                values.add(index(record));
            }
            for (int i : values) (i < records ? seen : seenExtra).add(i);
            emit("records", "member", quote(name), "partition", partition.partition(),
                "offsets", offsets, "values", values);
        }
    }

    final class Member implements ConsumerRebalanceListener {
        final KafkaConsumer<byte[], byte[]> consumer;

        Member(String instance) {
            Map<String, Object> config = new HashMap<>(Map.of(
                "bootstrap.servers", bootstrap, "group.id", group, "auto.offset.reset", "earliest",
                "enable.auto.commit", false, "heartbeat.interval.ms", 200, "session.timeout.ms", 60_000,
                "max.poll.records", batch, "partition.assignment.strategy", assignorClass(assignor)));
            if (isStatic) config.put("group.instance.id", group + "-" + instance);
            consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(List.of(topic), this);
        }

        Set<Integer> assigned() {
            return consumer.assignment().stream().map(TopicPartition::partition)
                .collect(Collectors.toCollection(TreeSet::new));
        }

        Map<Integer, Long> committed() {
            Map<Integer, Long> offsets = new HashMap<>();
            for (var entry : consumer.committed(consumer.assignment()).entrySet()) {
                OffsetAndMetadata committed = entry.getValue();
                check(committed != null, "nothing committed for " + entry.getKey());
                offsets.put(entry.getKey().partition(), committed.offset());
            }
            return offsets;
        }

        void hold() {
            consumer.pause(consumer.assignment());
        }

        void release() {
            consumer.resume(consumer.assignment());
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
            consumer.commitSync();
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
        }
    }

    static String assignorClass(String name) {
        Map<String, String> names = Map.of("range", "Range", "roundrobin", "RoundRobin", "sticky", "Sticky",
            "cooperative-sticky", "CooperativeSticky");
        return "org.apache.kafka.clients.consumer." + names.get(name) + "Assignor";
    }

    static byte[] key(int i) {
        return String.format("key-%05d", i).getBytes(StandardCharsets.UTF_8);
    }

    static byte[] value(int i) {
        return String.format("value-%05d-%s", i, filler).getBytes(StandardCharsets.UTF_8);
    }

    static int index(ConsumerRecord<byte[], byte[]> record) {
        String key = new String(record.key(), StandardCharsets.UTF_8);
        String value = new String(record.value(), StandardCharsets.UTF_8);
        check(key.startsWith("key-") && value.equals("value-" + key.substring(4) + "-" + filler), key + ": " + value);
        return Integer.parseInt(key.substring(4));
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) throw new IllegalStateException(otherwise);
    }

    static String quote(String text) {
        return '"' + text + '"';
    }

    /** Collections of numbers print as JSON by themselves. */
    static void emit(String event, Object... fields) {
        StringBuilder line = new StringBuilder("{\"event\":").append(quote(event));
        for (int i = 0; i < fields.length; i += 2)
            line.append(',').append(quote((String) fields[i])).append(':').append(fields[i + 1]);
        System.out.println(line.append('}'));
    }
}
