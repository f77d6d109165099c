package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import mockbroker.ClusterOptions;
import mockbroker.MockCluster;
import mockbroker.StoredRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each test has a cluster, and finds in it what it wrote, and nothing else. MANY says how many there are,
 * {@code junit.jupiter.execution.parallel.config.fixed.parallelism} how many at once.
 */
@Execution(ExecutionMode.CONCURRENT)
class ManyTest {
    private static final Queue<Double> READY = new ConcurrentLinkedQueue<>();

    static IntStream numbers() {
        return IntStream.range(0, Integer.parseInt(System.getenv().getOrDefault("MANY", "40")));
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void writesToACluster(int number) throws Exception {
        long began = System.nanoTime();
        try (MockCluster cluster = MockCluster.start(new ClusterOptions().topics(Map.of("orders", 1)))) {
            READY.add((System.nanoTime() - began) / 1e6);
            String order = "order " + number;
            Properties settings = cluster.clientProperties();
            StringSerializer text = new StringSerializer();
            try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, text, text)) {
                producer.send(new ProducerRecord<>("orders", order)).get();
            }
            List<StoredRecord> found = cluster.records("orders");
            assertEquals(List.of(order), found.stream().map(StoredRecord::value).collect(Collectors.toList()));
        }
    }

    @AfterAll
    static void tell() {
        System.out.println("ready after, in ms: " + READY);
    }
}
