import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Transactions with the Java client: commits, aborts, moves records with their offsets, is fenced.
 *
 * Arguments: bootstrap, a name for topics, group and transactional id, the records of a transaction.
 * Prints one JSON object.
 */
public final class Transactions {
    static String bootstrap, name;
    static int count;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        name = args[1];
        count = Integer.parseInt(args[2]);
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(name, 1, (short) 3), new NewTopic(name + "-out", 1, (short) 3)))
                .all().get();
        }
        KafkaProducer<byte[], byte[]> first = producer();
        first.initTransactions();
        for (int round = 0; round < 3; round++) {
            first.beginTransaction();
            for (int i = 0; i < count; i++) first.send(record(name, round * count + i));
            if (round == 1) {
                first.flush();
                first.abortTransaction();
            } else first.commitTransaction();
        }
        long position = move(first);
        KafkaProducer<byte[], byte[]> second = producer();
        second.initTransactions();
        boolean fenced = false;
        try {
            first.beginTransaction();
            first.send(record(name, -1));
            first.commitTransaction();
        } catch (ProducerFencedException | InvalidProducerEpochException error) {
            fenced = true;
        }
        first.close(Duration.ZERO);
        second.close();
        System.out.println("{\"committed\": " + values(name, "read_committed", 2 * count)
            + ", \"all\": " + values(name, "read_uncommitted", 3 * count).size()
            + ", \"moved\": " + values(name + "-out", "read_committed", 2 * count)
            + ", \"position\": " + position + ", \"fenced\": " + fenced + "}");
    }

    /** Takes all committed records to the other topic, and says how far the group is then. */
    static long move(KafkaProducer<byte[], byte[]> producer) {
        TopicPartition partition = new TopicPartition(name, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer("read_committed")) {
            consumer.subscribe(List.of(name));
            int moved = 0;
            while (moved < 2 * count) {
                var records = consumer.poll(Duration.ofMillis(500));
                if (records.isEmpty()) continue;
                producer.beginTransaction();
                for (ConsumerRecord<byte[], byte[]> each : records) {
                    producer.send(new ProducerRecord<>(name + "-out", each.value()));
                    moved++;
                }
                var positions = Map.of(partition, new OffsetAndMetadata(consumer.position(partition)));
                producer.sendOffsetsToTransaction(positions, consumer.groupMetadata());
                producer.commitTransaction();
            }
            return consumer.committed(Set.of(partition)).get(partition).offset();
        }
    }

    static List<String> values(String topic, String isolation, int wanted) {
        List<String> found = new ArrayList<>();
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(isolation)) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            while (found.size() < wanted) {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(500))) {
                    found.add(new String(each.value(), StandardCharsets.UTF_8));
                }
            }
        }
        return found;
    }

    static ProducerRecord<byte[], byte[]> record(String topic, int value) {
        return new ProducerRecord<>(topic, Integer.toString(value).getBytes(StandardCharsets.UTF_8));
    }

    static KafkaProducer<byte[], byte[]> producer() {
        return new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap, "transactional.id", name, "enable.idempotence", true),
            new ByteArraySerializer(), new ByteArraySerializer());
    }

    static KafkaConsumer<byte[], byte[]> consumer(String isolation) {
        return new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrap, "group.id", name, "isolation.level", isolation,
                "enable.auto.commit", false, "auto.offset.reset", "earliest"),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
