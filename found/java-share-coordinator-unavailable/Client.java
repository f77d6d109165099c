import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The first ShareFetch is answered COORDINATOR_NOT_AVAILABLE for the partition. */
public class Client {
    public static void main(String[] arguments) throws Exception {
        String servers = System.getenv("BOOTSTRAP_SERVERS");
        var text = new StringDeserializer();
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "group.id", "workers");
        try (var consumer = new KafkaShareConsumer<>(settings, text, text);
             var producer = new KafkaProducer<>(Map.<String, Object>of("bootstrap.servers", servers),
                 new StringSerializer(), new StringSerializer())) {
            consumer.subscribe(List.of("jobs"));
            for (int records = 0; records == 0; ) {
                producer.send(new ProducerRecord<>("jobs", "a job")).get(); // a new group begins with the latest records
                try {
                    records = consumer.poll(Duration.ofMillis(200)).count();
                } catch (KafkaException error) {
                    System.out.println("poll: " + error.getMessage());
                }
            }
            System.out.println("poll: records");
        }
    }
}
