import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member of a share group. */
final class Member implements AutoCloseable {
    private static final Duration A_WHILE = Duration.ofMillis(500);
    final KafkaShareConsumer<String, String> consumer;
    /** What the callback was told: offsets by partition, and the first error of each. */
    final Map<TopicPartition, Set<Long>> told = new HashMap<>();
    final Map<TopicPartition, Exception> errors = new HashMap<>();
    private final TopicPartition first;
    private boolean closed;

    Member(Properties config, StringDeserializer values, TopicPartition first) {
        this.first = first;
        this.consumer = new KafkaShareConsumer<>(config, new StringDeserializer(), values);
    }

    Member subscribe(String... topics) {
        consumer.subscribe(Set.of(topics.length == 0 ? new String[] {first.topic()} : topics));
        return this;
    }

    Member listen() {
        consumer.setAcknowledgementCommitCallback((offsets, error) -> offsets.forEach((partition, some) -> {
            told.computeIfAbsent(partition.topicPartition(), key -> new TreeSet<>()).addAll(some);
            if (error != null) {
                errors.putIfAbsent(partition.topicPartition(), error);
            }
        }));
        return this;
    }

    /** Polls until the callback has been told of a partition. */
    void hears(TopicPartition of) throws Exception {
        Stage.until("an acknowledgement of " + of, () -> {
            consumer.poll(A_WHILE);
            return told.containsKey(of);
        });
    }

    void hears() throws Exception {
        hears(first);
    }

    ConsumerRecords<String, String> poll(long ms) {
        return consumer.poll(Duration.ofMillis(ms));
    }

    /** One poll that gets records after any number of polls that don't. */
    ConsumerRecords<String, String> some() throws Exception {
        List<ConsumerRecords<String, String>> found = new ArrayList<>();
        Stage.until("records", () -> {
            found.clear();
            found.add(consumer.poll(A_WHILE));
            return !found.get(0).isEmpty();
        });
        return found.get(0);
    }

    /** Some, which have to be this many. */
    List<ConsumerRecord<String, String>> gets(int count) throws Exception {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        some().forEach(found::add);
        Stage.same(count, found.size());
        return found;
    }

    /** As many, in however many polls. */
    List<ConsumerRecord<String, String>> gathers(int count) throws Exception {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        while (found.size() < count) {
            some().forEach(found::add);
        }
        Stage.same(count, found.size());
        return found;
    }

    /** As many, of which it says this. */
    List<ConsumerRecord<String, String>> gathersAll(int count, AcknowledgeType said) throws Exception {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        while (found.size() < count) {
            ConsumerRecords<String, String> some = some();
            say(said, some);
            commits();
            some.forEach(found::add);
        }
        Stage.same(count, found.size());
        return found;
    }

    void getsNone() {
        Stage.same(0, poll(500).count());
    }

    void say(AcknowledgeType said, Iterable<ConsumerRecord<String, String>> records) {
        records.forEach(each -> consumer.acknowledge(each, said));
    }

    /** Of one partition, without an error. */
    void commits() {
        Map<TopicIdPartition, Optional<KafkaException>> result = consumer.commitSync();
        Stage.same(1, result.size());
        result.values().forEach(each -> Stage.same(Optional.empty(), each));
    }

    KafkaException commitFails() {
        Map<TopicIdPartition, Optional<KafkaException>> result = consumer.commitSync();
        Stage.same(1, result.size());
        return result.values().iterator().next().orElseThrow(() -> new AssertionError("nothing failed"));
    }

    /** Gets this many, says this of all, and commits it. */
    List<ConsumerRecord<String, String>> settles(int count, AcknowledgeType said) throws Exception {
        List<ConsumerRecord<String, String>> found = gets(count);
        say(said, found);
        commits();
        return found;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            consumer.close(Duration.ofSeconds(10));
        }
    }
}
