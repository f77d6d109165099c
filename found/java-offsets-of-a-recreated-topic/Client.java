import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/** Offsets are sent in a transaction, and in another one when the topic was deleted and created again. */
public class Client {
    static void make(String call, Runnable what) {
        try {
            what.run();
            System.out.println(call + " returns");
        } catch (RuntimeException error) {
            System.out.println(call + ": " + error.getClass().getSimpleName());
        }
    }

    public static void main(String[] arguments) throws Exception {
        var settings = new HashMap<String, Object>(Map.of("bootstrap.servers", System.getenv("BOOTSTRAP_SERVERS")));
        Admin admin = Admin.create(settings);
        settings.putAll(Map.of("transactional.id", "billing", "max.block.ms", 8_000));
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        var offsets = Map.of(new TopicPartition("orders", 0), new OffsetAndMetadata(1));
        Runnable send = () -> producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata("billing"));
        make("beginTransaction", producer::beginTransaction);
        make("sendOffsetsToTransaction", send);
        make("commitTransaction", producer::commitTransaction);
        admin.deleteTopics(List.of("orders")).all().get();
        while (admin.listTopics().names().get().contains("orders")) Thread.sleep(100);
        admin.createTopics(List.of(new NewTopic("orders", Optional.of(1), Optional.empty()))).all().get();
        make("beginTransaction", producer::beginTransaction);
        make("sendOffsetsToTransaction", send);
        for (int i = 0; i < 2; i++) make("abortTransaction", producer::abortTransaction);
        Runtime.getRuntime().halt(0);
    }
}
