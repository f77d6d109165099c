import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Words are commands, done one after the other by any Java client: write,TOPIC,CODEC,VALUE,… and
 * read,TOPIC,GROUP,COUNT. Prints the offset of each record that was written, and offset and value of each that was
 * read; a group commits what it reads.
 */
public final class OldClient {
    public static void main(String[] args) throws Exception {
        for (String command : Arrays.asList(args).subList(1, args.length)) {
            String[] words = command.split(",");
            if (words[0].equals("write")) {
                write(args[0], words[1], words[2], Arrays.asList(words).subList(3, words.length));
            } else {
                read(args[0], words[1], words[2], Integer.parseInt(words[3]));
            }
        }
    }

    private static Properties configured(String servers, String kind, String direction) {
        Properties set = new Properties();
        set.put("bootstrap.servers", servers);
        for (String part : new String[] {"key", "value"}) {
            String name = "org.apache.kafka.common.serialization.String" + kind;
            set.put(part + "." + direction, name);
        }
        return set;
    }

    private static void write(String servers, String topic, String codec, List<String> values) throws Exception {
        Properties set = configured(servers, "Serializer", "serializer");
        set.put("compression.type", codec);
        set.put("linger.ms", "200");
        set.put("acks", "all");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(set)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (String value : values) sent.add(producer.send(new ProducerRecord<>(topic, 0, "key", value)));
            for (Future<RecordMetadata> each : sent) System.out.println(each.get().offset());
        }
    }

    private static void read(String servers, String topic, String group, int count) throws Exception {
        Properties set = configured(servers, "Deserializer", "deserializer");
        set.put("group.id", group);
        set.put("auto.offset.reset", "earliest");
        set.put("enable.auto.commit", "false");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(set)) {
            consumer.subscribe(Arrays.asList(topic));
            int left = count;
            while (left > 0) {
                for (ConsumerRecord<String, String> each : polled(consumer)) {
                    System.out.println(each.offset() + " " + each.value());
                    left--;
                }
            }
            consumer.commitSync();
        }
    }

    /** As of 4.0 there is no poll(long), and before 2.0 no other. */
    @SuppressWarnings("unchecked")
    private static ConsumerRecords<String, String> polled(KafkaConsumer<String, String> consumer) throws Exception {
        Object found;
        try {
            found = KafkaConsumer.class.getMethod("poll", Duration.class).invoke(consumer, Duration.ofMillis(200));
        } catch (NoSuchMethodException e) {
            found = KafkaConsumer.class.getMethod("poll", long.class).invoke(consumer, 200L);
        }
        return (ConsumerRecords<String, String>) found;
    }
}
