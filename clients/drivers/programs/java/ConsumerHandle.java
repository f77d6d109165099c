import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;

/** A KafkaConsumer. */
final class ConsumerHandle implements Handle {
    static final Class<?> CLIENT = KafkaConsumer.class;
    /** The client refuses these if the broker decides on them (KIP-848). */
    private static final List<String> CLASSIC_ONLY = List.of("session.timeout.ms", "heartbeat.interval.ms");

    private static final String ASSIGNOR = "partition.assignment.strategy";
    /** The classes of assignors, in org.apache.kafka.clients.consumer. */
    static final Map<String, String> ASSIGNORS = Map.of(
        "range", "RangeAssignor", "roundrobin", "RoundRobinAssignor", "sticky", "StickyAssignor",
        "cooperative-sticky", "CooperativeStickyAssignor");

    final String group;
    final KafkaConsumer<byte[], byte[]> consumer;
    private final String name;
    private final Lines lines;
    private List<String> stopsAt = List.of();
    private final boolean decidedByBroker;
    private boolean goesOn;

    ConsumerHandle(Call call, Lines lines) throws IOException {
        name = call.handle;
        this.lines = lines;
        Map<String, Object> config = call.config();
        decidedByBroker = "consumer".equalsIgnoreCase((String) config.get("group.protocol"));
        if (decidedByBroker) config.keySet().removeAll(CLASSIC_ONLY);
        config.computeIfPresent(ASSIGNOR, (setting, name) ->
            ASSIGNORS.containsKey(name) ? "org.apache.kafka.clients.consumer." + ASSIGNORS.get(name) : name);
        group = (String) config.get("group.id");
        String failsOn = call.has("fails_on") ? call.text("fails_on") : null;
        consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new Refusing(failsOn));
    }

    @Override
    public Map<String, ?> call(Call call) throws Exception {
        switch (call.verb) {
            case "subscribe":
                if (call.has("stops_at")) stopsAt = call.texts("stops_at");
                subscribe(call.texts("topics"));
                return Map.of();
            case "assign":
                assign(call.partitions("partitions"));
                return Map.of();
            case "poll":
                return Map.of("records", poll(timeout(call)));
            case "commit":
                if (call.has("offsets")) consumer.commitSync(call.offsets(), timeout(call));
                else consumer.commitSync(timeout(call));
                return Map.of();
            case "committed":
                return Map.of("offsets", rows(committed(call.partitions("partitions").keySet(), timeout(call))));
            case "position":
                Map<TopicPartition, Long> positions = new LinkedHashMap<>();
                for (TopicPartition each : call.partitions("partitions").keySet())
                    positions.put(each, consumer.position(each, timeout(call)));
                return Map.of("offsets", rows(positions));
            case "last-seen-epochs":
                return Map.of("epochs", rows(lastSeenEpochs(call.partitions("partitions").keySet())));
            case "pause":
                consumer.pause(call.partitions("partitions").keySet());
                return Map.of();
            case "resume":
                consumer.resume(call.partitions("partitions").keySet());
                return Map.of();
            case "go-on":
                goesOn = true;
                return Map.of();
            case "seek":
                var partition = new TopicPartition(call.text("topic"), (int) call.number("partition"));
                if (call.has("offset")) consumer.seek(partition, call.number("offset"));
                else if (call.text("to").equals("beginning")) consumer.seekToBeginning(List.of(partition));
                else consumer.seekToEnd(List.of(partition));
                return Map.of();
            case "offsets-for-times":
                Map<TopicPartition, Long> first = new LinkedHashMap<>();
                consumer.offsetsForTimes(call.partitions("partitions"), timeout(call))
                    .forEach((at, found) -> first.put(at, found == null ? null : found.offset()));
                return Map.of("offsets", rows(first));
            case "close":
                consumer.close(timeout(call));
                return Map.of();
            default:
                throw new UnsupportedException("a consumer has no verb " + call.verb);
        }
    }

    private static Duration timeout(Call call) {
        return Duration.ofMillis(call.number("timeout_ms"));
    }

    /** A topic that begins with "^" is a regular expression; with the consumer protocol for the coordinator. */
    private void subscribe(List<String> topics) throws ReflectiveOperationException {
        if (!topics.get(0).startsWith("^")) {
            consumer.subscribe(topics, new Listener());
            return;
        }
        if (!decidedByBroker) {
            consumer.subscribe(Pattern.compile(topics.get(0)), new Listener());
            return;
        }
        Class<?> pattern = Class.forName("org.apache.kafka.clients.consumer.SubscriptionPattern");
        consumer.getClass().getMethod("subscribe", pattern, ConsumerRebalanceListener.class)
            .invoke(consumer, pattern.getConstructor(String.class).newInstance(topics.get(0)), new Listener());
    }

    private void assign(Map<TopicPartition, Long> partitions) {
        consumer.assign(partitions.keySet());
        partitions.forEach((partition, offset) -> {
            if (offset != null) consumer.seek(partition, offset);
        });
    }

    private List<Map<String, Object>> poll(Duration timeout) {
        List<Map<String, Object>> records = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> each : consumer.poll(timeout)) records.add(described(each));
        return records;
    }

    /** A record, as an answer to `poll` has it. */
    static Map<String, Object> described(ConsumerRecord<byte[], byte[]> each) {
        Map<String, Object> record = new HashMap<>();
        record.put("topic", each.topic());
        record.put("partition", each.partition());
        record.put("offset", each.offset());
        each.leaderEpoch().ifPresent(epoch -> record.put("leader_epoch", epoch));
        record.put("key", text(each.key()));
        record.put("value", text(each.value()));
        List<List<String>> headers = new ArrayList<>();
        each.headers().forEach(header -> headers.add(Arrays.asList(header.key(), text(header.value()))));
        if (!headers.isEmpty()) record.put("headers", headers);
        return record;
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }

    /** Releases from 2.4 on take a set (KIP-520), 4.0 took the method for one partition away. */
    private Map<TopicPartition, Long> committed(Set<TopicPartition> partitions, Duration timeout) throws Exception {
        Method ofSet = Handle.method(CLIENT, "committed", Set.class, Duration.class);
        Method ofOne = Handle.method(CLIENT, "committed", TopicPartition.class, Duration.class);
        Map<?, ?> found = ofSet == null ? null : (Map<?, ?>) Handle.invoke(ofSet, consumer, partitions, timeout);
        Map<TopicPartition, Long> committed = new LinkedHashMap<>();
        for (TopicPartition each : partitions) {
            Object offset = found == null ? Handle.invoke(ofOne, consumer, each, timeout) : found.get(each);
            committed.put(each, offset == null ? null : ((OffsetAndMetadata) offset).offset());
        }
        return committed;
    }

    /** The client's own knowledge of leaders, which its public API does not give. */
    private Map<TopicPartition, Integer> lastSeenEpochs(Set<TopicPartition> partitions) throws Exception {
        Object inner = consumer;
        try {
            inner = field(consumer, "delegate");
        } catch (NoSuchFieldException error) {
            // before 3.7 the consumer is all there is
        }
        Method lastSeen = Handle.method(Metadata.class, "lastSeenLeaderEpoch", TopicPartition.class); // since 2.2
        Map<TopicPartition, Integer> epochs = new LinkedHashMap<>();
        for (TopicPartition each : partitions) {
            var epoch = (Optional<?>) Handle.invoke(lastSeen, field(inner, "metadata"), each);
            epochs.put(each, (Integer) epoch.orElse(null));
        }
        return epochs;
    }

    private static Object field(Object holder, String name) throws ReflectiveOperationException {
        Field field = holder.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(holder);
    }

    private static List<List<Object>> rows(Map<TopicPartition, ?> offsets) {
        List<List<Object>> rows = new ArrayList<>();
        offsets.forEach((each, offset) -> rows.add(Arrays.asList(each.topic(), each.partition(), offset)));
        return rows;
    }

    private final class Listener implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            tell("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            tell("revoked", partitions);
        }

        /** Overrides a method only from 2.4 on (KIP-429). */
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            tell("lost", partitions);
        }

        private void tell(String event, Collection<TopicPartition> partitions) {
            List<List<Object>> rows = new ArrayList<>();
            partitions.forEach(each -> rows.add(List.of(each.topic(), each.partition())));
            goesOn = !stopsAt.contains(event);
            lines.event(name, event, "partitions", rows);
            while (!goesOn) Driver.next(name);
        }
    }

    /** Passes values as they are, but throws for those that begin with a text. */
    private static final class Refusing implements Deserializer<byte[]> {
        private final byte[] failsOn;

        Refusing(String failsOn) {
            this.failsOn = failsOn == null ? null : failsOn.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public void configure(Map<String, ?> config, boolean isKey) {}

        @Override
        public byte[] deserialize(String topic, byte[] value) {
            if (failsOn != null && value != null && value.length >= failsOn.length
                    && Arrays.equals(failsOn, Arrays.copyOf(value, failsOn.length)))
                throw new BadPayloadException("can't read " + new String(value, StandardCharsets.UTF_8));
            return value;
        }

        @Override
        public void close() {}
    }
}
