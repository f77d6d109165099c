import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The answer to the first ShareAcknowledge is lost with the connection. */
public class Client {
    public static void main(String[] arguments) throws Exception {
        String servers = System.getenv("BOOTSTRAP_SERVERS");
        var text = new StringDeserializer();
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "group.id", "workers");
        try (var consumer = new KafkaShareConsumer<>(settings, text, text);
             var producer = new KafkaProducer<>(Map.<String, Object>of("bootstrap.servers", servers),
                 new StringSerializer(), new StringSerializer())) {
            consumer.setAcknowledgementCommitCallback((offsets, error) ->
                System.out.println("callback: " + (error == null ? "committed" : error.getClass().getSimpleName())));
            consumer.subscribe(List.of("jobs"));
            for (int records = 0; records == 0; records = consumer.poll(Duration.ofMillis(200)).count())
                producer.send(new ProducerRecord<>("jobs", "a job")).get(); // a new group begins with the latest records
            consumer.commitSync().values().forEach(error ->
                System.out.println("commitSync: " + error.map(each -> each.getClass().getSimpleName()).orElse("committed")));
        }
    }
}
