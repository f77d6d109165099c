import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads as a member of a share group: Share BROKERS GROUP TOPIC ENOUGH. It accepts records that are good, releases
 * those that are to come again, and rejects the bad, by the first word of their values. A line for each: value,
 * delivery count, and what it said. It ends when ENOUGH were accepted or rejected. */
public class Share {
    public static void main(String[] args) {
        Properties config = new Properties();
        config.putAll(Map.of("bootstrap.servers", args[0], "group.id", args[1],
            "share.acknowledgement.mode", "explicit"));
        int left = Integer.parseInt(args[3]);
        StringDeserializer text = new StringDeserializer();
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(config, text, text)) {
            consumer.subscribe(List.of(args[2]));
            while (left > 0) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    short times = record.deliveryCount().orElse((short) 0);
                    AcknowledgeType said = said(record.value(), times);
                    consumer.acknowledge(record, said);
                    System.out.println(record.value() + "\t" + times + "\t" + said);
                    left -= said == AcknowledgeType.RELEASE ? 0 : 1;
                }
                consumer.commitSync().values().forEach(error -> error.ifPresent(found -> {
                    throw found;
                }));
            }
        }
    }

    private static AcknowledgeType said(String value, short times) {
        if (value.startsWith("bad")) {
            return AcknowledgeType.REJECT;
        }
        return value.startsWith("again") && times < 3 ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT;
    }
}
