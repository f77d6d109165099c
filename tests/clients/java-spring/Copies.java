import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Copies records from `in` to `out` with Spring Kafka: exactly once with the argument `transactions`, else at least
 * once. The listener fails at some records, the first time: they are tried again by the container.
 */
public final class Copies {
    private static final FixedBackOff SOON = new FixedBackOff(50, FixedBackOff.UNLIMITED_ATTEMPTS);
    private static final Set<String> FAILED = ConcurrentHashMap.newKeySet();

    public static void main(String[] arguments) {
        boolean transactional = Arrays.asList(arguments).contains("transactions");
        Map<String, Object> common = Map.of(
            "bootstrap.servers", System.getenv("BOOTSTRAP_SERVERS"),
            "request.timeout.ms", 3_000, "default.api.timeout.ms", 9_000,
            "retry.backoff.ms", 50, "reconnect.backoff.ms", 50, "reconnect.backoff.max.ms", 200);
        var bytes = new ByteArraySerializer();
        var producers = new DefaultKafkaProducerFactory<byte[], byte[]>(
            with(common, Map.of("delivery.timeout.ms", 9_000, "max.block.ms", 9_000)), bytes, bytes);
        if (transactional) producers.setTransactionIdPrefix("copies-");
        var template = new KafkaTemplate<>(producers);
        var consumers = new DefaultKafkaConsumerFactory<byte[], byte[]>(
            with(common, Map.of(
                "group.id", "copies", "auto.offset.reset", "earliest", "isolation.level", "read_committed",
                "session.timeout.ms", 6_000, "heartbeat.interval.ms", 300)),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());

        var properties = new ContainerProperties("in");
        properties.setMessageListener((MessageListener<byte[], byte[]>) record -> {
            if (isBad(record)) throw new IllegalStateException("not yet");
            var sent = template.send("out", record.key(), record.value());
            if (!transactional) sent.join();
        });
        if (transactional) properties.setKafkaAwareTransactionManager(new KafkaTransactionManager<>(producers));
        var container = new ConcurrentMessageListenerContainer<>(consumers, properties);
        container.setConcurrency(2);
        if (transactional) container.setAfterRollbackProcessor(new DefaultAfterRollbackProcessor<>(SOON));
        else container.setCommonErrorHandler(new DefaultErrorHandler(SOON));
        container.start();
        Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
    }

    /** Every third record of a partition, the first time that it is seen. */
    private static boolean isBad(ConsumerRecord<?, ?> record) {
        return record.offset() % 3 == 1 && FAILED.add(record.topic() + record.partition() + "-" + record.offset());
    }

    private static Map<String, Object> with(Map<String, Object> common, Map<String, Object> more) {
        Map<String, Object> all = new HashMap<>(common);
        all.putAll(more);
        return all;
    }
}
