package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import mockbroker.AddedFault;
import mockbroker.Fault;
import mockbroker.MockBroker;
import mockbroker.MockCluster;
import mockbroker.ProduceOptions;
import mockbroker.WaitForGroupOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counts orders by customer, exactly once, with real Kafka Streams. */
@MockBroker(topics = {"orders:1", "counts:1"})
class CountingTest {
    private static Topology counting() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("orders", Consumed.with(Serdes.String(), Serdes.String()))
                .groupByKey()
                .count(Materialized.as(Stores.inMemoryKeyValueStore("store")))
                .toStream()
                .to("counts", Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    @Test
    void eachOrderIsCountedOnceIfTheAnswerToACommitIsLost(MockCluster cluster, @TempDir Path folder) {
        AddedFault lost = cluster.addFault(Fault.of("disconnect").api("EndTxn").when("after").nth(1));
        for (int order = 1; order <= 3; order++) {
            cluster.produce("orders", "order " + order, new ProduceOptions().key("alice"));
        }
        Properties settings = cluster.clientProperties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "counting");
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        try (KafkaStreams streams = new KafkaStreams(counting(), settings)) {
            streams.start();
            cluster.waitForGroup("counting", new WaitForGroupOptions().state("Stable").assigned(1));
            assertEquals(3, lastCount(cluster));
            lost.awaitHits(1);
        }
    }

    /** Once it is committed, the count of alice's orders. */
    private static long lastCount(MockCluster cluster) {
        Properties settings = cluster.clientProperties();
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        TopicPartition counts = new TopicPartition("counts", 0);
        long last = 0;
        try (KafkaConsumer<String, Long> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new LongDeserializer())) {
            consumer.assign(List.of(counts));
            consumer.seekToBeginning(List.of(counts));
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (last < 3 && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, Long> each : consumer.poll(Duration.ofSeconds(1))) {
                    last = each.value();
                }
            }
        }
        return last;
    }
}
