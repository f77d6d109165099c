package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import mockbroker.AddedFault;
import mockbroker.CommittedOffset;
import mockbroker.Fault;
import mockbroker.MockBroker;
import mockbroker.MockCluster;
import mockbroker.StoredRecord;
import mockbroker.WaitForGroupOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/** An application that writes and reads with kafka-clients, while answers are lost and leaders move. */
@MockBroker(kafka = "3.9", topics = "orders:1")
class OrdersTest {
    /** The broker appends the record, and the connection is lost before its answer. */
    @Test
    void anOrderIsWrittenOnceIfTheAnswerIsLost(MockCluster cluster) throws Exception {
        AddedFault lost = cluster.addFault(Fault.of("disconnect").api("Produce").when("after").nth(1));
        try (Orders orders = new Orders(cluster, Map.of())) {
            orders.write("order 1");
        }
        assertEquals(List.of("order 1"), written(cluster));
        assertEquals(1, lost.hits());
    }

    @Test
    void aProducerThatIsNotIdempotentWritesItTwice(MockCluster cluster) throws Exception {
        AddedFault lost = cluster.addFault(Fault.of("disconnect").api("Produce").when("after").nth(1));
        try (Orders orders = new Orders(cluster, Map.of("enable.idempotence", "false"))) {
            orders.write("order 1");
        }
        lost.awaitHits(1);
        assertEquals(List.of("order 1", "order 1"), written(cluster));
    }

    @Test
    void ordersGoOnWhenTheLeaderMoves(MockCluster cluster) throws Exception {
        try (Orders orders = new Orders(cluster, Map.of())) {
            orders.write("order 1");
            cluster.moveLeader("orders", 0);
            orders.write("order 2");
        }
        assertEquals(List.of("order 1", "order 2"), written(cluster));
    }

    @Test
    @MockBroker(kafka = "2.3", topics = "orders:1")
    void aGroupGoesOnWhereItCommitted(MockCluster cluster) {
        cluster.produce("orders", "order 1");
        assertEquals(List.of("order 1"), read(cluster, "billing"));
        cluster.waitForGroup("billing", new WaitForGroupOptions().state("Empty"));
        cluster.produce("orders", "order 2");
        assertEquals(List.of("order 2"), read(cluster, "billing"));
        assertEquals(
                List.of(2L),
                cluster.committed("billing").stream().map(CommittedOffset::offset).collect(Collectors.toList()));
    }

    private static List<String> written(MockCluster cluster) {
        return cluster.records("orders").stream().map(StoredRecord::value).collect(Collectors.toList());
    }

    /** The part of the application that is tested. */
    private static final class Orders implements AutoCloseable {
        private final KafkaProducer<String, String> producer;

        private Orders(MockCluster cluster, Map<String, String> settings) {
            Properties properties = cluster.clientProperties();
            properties.putAll(settings);
            producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        }

        private void write(String order) throws Exception {
            producer.send(new ProducerRecord<>("orders", order)).get();
        }

        @Override
        public void close() {
            producer.close();
        }
    }

    private static List<String> read(MockCluster cluster, String group) {
        Properties properties = cluster.clientProperties();
        properties.putAll(Map.of("group.id", group, "auto.offset.reset", "earliest"));
        List<String> values = new ArrayList<>();
        StringDeserializer text = new StringDeserializer();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties, text, text)) {
            consumer.subscribe(List.of("orders"));
            while (values.isEmpty()) {
                for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofSeconds(1))) {
                    values.add(each.value());
                }
            }
            consumer.commitSync();
        }
        return values;
    }
}
