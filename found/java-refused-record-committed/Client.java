import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A send is refused, as no transaction has begun. Then one begins, and is committed. */
public class Client {
    public static void main(String[] arguments) {
        String servers = System.getenv("BOOTSTRAP_SERVERS");
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "transactional.id", "billing");
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        try {
            producer.send(new ProducerRecord<>("orders", "refused"));
        } catch (IllegalStateException error) {
            System.out.println("send: " + error.getMessage());
        }
        producer.beginTransaction();
        producer.send(new ProducerRecord<>("orders", "sent"));
        producer.commitTransaction();

        Map<String, Object> reading = Map.of("bootstrap.servers", servers, "isolation.level", "read_committed");
        try (var consumer = new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
            var partition = List.of(new TopicPartition("orders", 0));
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            consumer.poll(Duration.ofSeconds(10)).forEach(each -> System.out.println("committed: " + each.value()));
        }
    }
}
