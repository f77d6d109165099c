import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A KafkaShareConsumer. */
final class ShareHandle implements Handle {
    private final String name;
    private final Lines lines;
    private final KafkaShareConsumer<byte[], byte[]> consumer;
    /** What was polled, the last of each offset. */
    private final Map<TopicPartition, Map<Long, ConsumerRecord<byte[], byte[]>>> polled = new HashMap<>();

    ShareHandle(Call call, Lines lines) throws IOException {
        name = call.handle;
        this.lines = lines;
        consumer = new KafkaShareConsumer<>(call.config(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.setAcknowledgementCommitCallback(this::tell);
    }

    @Override
    public Map<String, ?> call(Call call) throws Exception {
        switch (call.verb) {
            case "subscribe":
                consumer.subscribe(call.texts("topics"));
                return Map.of();
            case "poll":
                return Map.of("records", poll(timeout(call)));
            case "acknowledge":
                acknowledge(call);
                return Map.of();
            case "commit":
                return Map.of("results", results(consumer.commitSync(timeout(call))));
            case "commit-async":
                consumer.commitAsync();
                return Map.of();
            case "close":
                consumer.close(timeout(call));
                return Map.of();
            default:
                throw new UnsupportedException("a share consumer has no verb " + call.verb);
        }
    }

    private static Duration timeout(Call call) {
        return Duration.ofMillis(call.number("timeout_ms"));
    }

    private List<Map<String, Object>> poll(Duration timeout) {
        List<Map<String, Object>> records = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> each : consumer.poll(timeout)) {
            Map<String, Object> record = ConsumerHandle.described(each);
            each.deliveryCount().ifPresent(count -> record.put("delivery_count", count));
            records.add(record);
            polled.computeIfAbsent(new TopicPartition(each.topic(), each.partition()), at -> new HashMap<>())
                .put(each.offset(), each);
        }
        return records;
    }

    private void acknowledge(Call call) {
        var at = new TopicPartition(call.text("topic"), (int) call.number("partition"));
        AcknowledgeType type = AcknowledgeType.valueOf(call.text("as").toUpperCase());
        var record = polled.getOrDefault(at, Map.of()).get(call.number("offset"));
        if (record == null) throw new IllegalArgumentException("no poll has returned this record");
        consumer.acknowledge(record, type);
    }

    /** The results of a commit: no error for partitions whose acknowledgements are committed. */
    private static List<List<Object>> results(Map<TopicIdPartition, ? extends Optional<? extends Throwable>> found) {
        List<List<Object>> rows = new ArrayList<>();
        found.forEach((at, error) -> rows.add(Arrays.asList(
            at.topic(), at.partition(), error.map(Described::of).orElse(null))));
        return rows;
    }

    private void tell(Map<TopicIdPartition, Set<Long>> offsets, Exception error) {
        List<List<Object>> rows = new ArrayList<>();
        offsets.forEach((at, some) -> rows.add(Arrays.asList(at.topic(), at.partition(), new ArrayList<>(some))));
        if (error == null) lines.event(name, "acknowledged", "offsets", rows);
        else lines.event(name, "acknowledged", "offsets", rows, "error", Described.of(error));
    }
}
