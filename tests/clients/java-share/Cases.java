import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Plays cases of share consumers: Cases BROKERS THREADS REPLICAS NAME... A line is `event` and JSON: of a case its name, and
 * what went wrong, if anything did; at the end the cases of which the share coordinator has written states. What a case
 * wants done to the cluster is a `verb`, and is done when a line comes back. `Cases list` prints the names of all. */
public class Cases {
    interface Case {
        void play(Stage stage) throws Exception;
    }

    private static final String STATES = "__share_group_state";
    private static final Map<String, Case> ALL = new LinkedHashMap<>();
    private static final Pattern OWN = Pattern.compile("(?!Stage|Member|Cases)[A-Z][a-z]+\\.java");
    private static final BufferedReader IN =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    static {
        Subscribing.add(ALL);
        Acknowledging.add(ALL);
        Callbacks.add(ALL);
        Delivering.add(ALL);
        Together.add(ALL);
        Transactions.add(ALL);
        Offsets.add(ALL);
        Restarts.add(ALL);
        DeadLetters.add(ALL);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("list")) {
            ALL.keySet().forEach(System.out::println);
            return;
        }
        String servers = args[0];
        int replicas = Integer.parseInt(args[2]);
        List<String> names = List.of(args).subList(3, args.length);
        ExecutorService threads = Executors.newFixedThreadPool(Integer.parseInt(args[1]));
        List<Future<?>> ended = new ArrayList<>();
        for (String name : names) {
            ended.add(threads.submit(() -> play(servers, name, replicas)));
        }
        for (Future<?> each : ended) {
            each.get();
        }
        threads.shutdown();
        tell("written", String.join(" ", states(servers)));
    }

    private static void play(String servers, String name, int replicas) {
        String outcome = "";
        try (Stage stage = new Stage(servers, name, Cases::act)) {
            stage.begin(replicas);
            ALL.get(name).play(stage);
        } catch (Throwable error) {
            String at = Stream.of(error.getStackTrace()).filter(each -> OWN.matcher(String.valueOf(each.getFileName())).matches())
                .map(each -> " at " + each.getFileName() + ":" + each.getLineNumber()).findFirst().orElse("");
            outcome = String.valueOf(error).replaceAll("\\p{Cntrl}+", " ") + at;
        }
        tell("case", name, "error", outcome);
    }

    private static synchronized void act(String verb, String what) throws Exception {
        tell("verb", verb, "what", what);
        IN.readLine();
    }

    private static synchronized void tell(String... words) {
        List<String> pairs = new ArrayList<>();
        Stage.pairs(words).forEach((key, value) ->
            pairs.add("\"" + key + "\": \"" + value.replaceAll("[\"\\\\]", "'") + "\""));
        System.out.println("event {" + String.join(", ", pairs) + "}");
        System.out.flush();
    }

    /** Cases of whose groups the share coordinator has written states. */
    private static List<String> states(String servers) {
        List<String> found = new ArrayList<>();
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer =
                 new KafkaConsumer<>(Map.of("bootstrap.servers", servers), bytes, bytes)) {
            if (!consumer.listTopics().containsKey(STATES)) {
                return found;
            }
            List<TopicPartition> all = List.of(new TopicPartition(STATES, 0));
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long end = consumer.endOffsets(all).values().iterator().next();
            while (consumer.position(all.get(0)) < end) {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(200))) {
                    String key = new String(each.key(), StandardCharsets.ISO_8859_1);
                    ALL.keySet().stream()
                        .filter(name -> key.contains(name + "-group") && !found.contains(name)).forEach(found::add);
                }
            }
        }
        return found;
    }
}
