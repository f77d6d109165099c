import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A mirror maker that runs every three days for a month: what it finds, and what it reads.
 *
 * It does what studies/offset_rewinds/mirror.py does, and tells the same. The argument is auto.offset.reset.
 */
public final class Mirror {
    private static final String BROKERS = System.getenv("BOOTSTRAP_SERVERS");
    private static final String CONTROL = System.getenv("MOCKBROKER_CONTROL");
    private static final List<String> TOPICS = List.of("views", "deployments");
    private static final Map<String, Integer> RECORDS = Map.of("views", 30, "deployments", 6);
    private static final Map<String, Integer> SIZES = Map.of("views", 100, "deployments", 10);
    private static final int RUNS = 11;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    public static void main(String[] args) throws Exception {
        for (int run = 1; run <= RUNS; run++) {
            if (run > 1) letThreeDaysPass();
            write();
            mirror(run, run > 1 ? args[0] : "earliest");
        }
    }

    private static void letThreeDaysPass() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(CONTROL + "/clock/advance"))
                .POST(BodyPublishers.ofString("{\"by\": \"3d\"}"))
                .build();
        int status = HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
        if (status != 200) throw new IllegalStateException("the clock's answer is " + status);
    }

    private static void write() throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", BROKERS, "linger.ms", 5);
        var bytes = new ByteArraySerializer();
        try (var producer = new KafkaProducer<byte[], byte[]>(config, bytes, bytes)) {
            for (String topic : TOPICS) {
                for (int i = 0; i < RECORDS.get(topic); i++) {
                    producer.send(new ProducerRecord<>(topic, 0, null, new byte[SIZES.get(topic)]));
                }
                producer.flush();
            }
        }
    }

    /** Reads both topics from what was committed to the end, and tells about it. */
    private static void mirror(int run, String reset) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", BROKERS);
        config.put("client.id", "mirror-" + run);
        config.put("group.id", "mirror");
        config.put("auto.offset.reset", reset);
        config.put("enable.auto.commit", false);
        config.put("fetch.max.wait.ms", 10);
        Map<TopicPartition, String> found = new HashMap<>();
        Map<TopicPartition, Long> ends = new HashMap<>();
        Map<String, List<Long>> read = new HashMap<>();
        for (String topic : TOPICS) read.put(topic, new ArrayList<>());
        var bytes = new ByteArrayDeserializer();
        try (var consumer = new KafkaConsumer<byte[], byte[]>(config, bytes, bytes)) {
            consumer.subscribe(TOPICS, new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
                    ends.putAll(consumer.endOffsets(partitions));
                    Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(Set.copyOf(partitions));
                    for (TopicPartition each : partitions) {
                        OffsetAndMetadata offset = committed.get(each);
                        found.put(each, String.format("\"log_start\": %d, \"log_end\": %d, \"committed\": %d",
                                starts.get(each), ends.get(each), offset == null ? -1 : offset.offset()));
                    }
                }

                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}
            });
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (ends.size() < TOPICS.size() || !isAtEnd(consumer, ends)) {
                if (System.nanoTime() > deadline) throw new IllegalStateException("the end was not reached");
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    read.get(record.topic()).add(record.offset());
                    var partition = new TopicPartition(record.topic(), record.partition());
                    consumer.commitSync(Map.of(partition, new OffsetAndMetadata(record.offset() + 1)));
                }
            }
        }
        for (String topic : TOPICS) {
            System.out.printf("{\"run\": %d, \"topic\": \"%s\", %s, \"read\": %s}%n",
                    run, topic, found.get(new TopicPartition(topic, 0)), read.get(topic));
        }
    }

    private static boolean isAtEnd(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
        return consumer.assignment().stream().allMatch(each -> consumer.position(each) >= ends.get(each));
    }
}
