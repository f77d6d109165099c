import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Any number of producers, each in a thread of its own. Needs nothing newer than kafka-clients 2.3.
 *
 * A line on stdin is a command, tab-separated, with a number: "NUMBER open NAME KEY=VALUE…",
 * "NUMBER send NAME TOPIC PARTITION VALUE", "NUMBER partitions NAME TOPIC", "NUMBER init NAME", and so on for begin,
 * commit, abort, flush and close.
 * Its outcome is a line on stdout, "event" and JSON: number, offset or -1, error or "", text.
 * Commands to one producer follow each other; "send" does not wait until the record is delivered.
 */
public final class Producers {
    public static void main(String[] args) throws Exception {
        Map<String, Member> members = new HashMap<>();
        var commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = commands.readLine()) != null; ) {
            String[] words = line.split("\t");
            if (words[1].equals("open")) members.put(words[2], new Member());
            members.get(words[2]).told(words);
            if (words[1].equals("close")) members.remove(words[2]);
        }
        for (Member member : members.values()) member.told("0", "close");
    }

    static final class Member {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        KafkaProducer<byte[], String> producer;

        void told(String... words) {
            thread.execute(() -> {
                int number = Integer.parseInt(words[0]);
                try {
                    if (words[1].equals("send")) send(number, words);
                    else {
                        act(words);
                        emit(number, -1, null);
                    }
                } catch (Exception e) {
                    emit(number, -1, e);
                }
            });
        }

        void send(int number, String[] words) {
            var record = new ProducerRecord<byte[], String>(words[3], Integer.valueOf(words[4]), null, words[5]);
            producer.send(record, (metadata, e) -> emit(number, e == null ? metadata.offset() : -1, e));
        }

        void act(String[] words) {
            switch (words[1]) {
                case "open": producer = opened(words); break;
                case "init": producer.initTransactions(); break;
                case "begin": producer.beginTransaction(); break;
                case "commit": producer.commitTransaction(); break;
                case "abort": producer.abortTransaction(); break;
                case "flush": producer.flush(); break;
                case "partitions": producer.partitionsFor(words[3]); break;
                case "close":
                    thread.shutdown();
                    producer.close(Duration.ZERO);  // what is not delivered by now fails
                    break;
                default: throw new IllegalArgumentException(words[1]);
            }
        }

        KafkaProducer<byte[], String> opened(String[] words) {
            Map<String, Object> config = new HashMap<>();
            for (int i = 3; i < words.length; i++) {
                String[] pair = words[i].split("=", 2);
                config.put(pair[0], pair[1]);
            }
            return new KafkaProducer<>(config, new ByteArraySerializer(), new StringSerializer());
        }
    }

    /** A KafkaException that has a cause says only that the producer failed before: the cause is what matters. */
    static void emit(int number, long offset, Throwable e) {
        while (e != null && e.getClass() == KafkaException.class && e.getCause() != null) e = e.getCause();
        String name = e == null ? "" : e.getClass().getSimpleName(), text = e == null ? "" : String.valueOf(e.getMessage());
        System.out.println("event {\"number\":" + number + ",\"offset\":" + offset
            + ",\"error\":" + quote(name) + ",\"text\":" + quote(text) + "}");
    }

    static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
