import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/**
 * Any number of instances of an application that counts words: from a topic of lines, by way of a repartition
 * topic, to a topic that gets each new count of a word.
 *
 * A line on stdin is a command, tab-separated: "open NAME INPUT OUTPUT KEY=VALUE…", "close NAME".
 * What becomes of an instance is a line on stdout, "event" and JSON: its name, and its state or what it died of;
 * other lines there are the log.
 */
public final class WordCount {
    public static void main(String[] args) throws Exception {
        Map<String, KafkaStreams> instances = new HashMap<>();
        var commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = commands.readLine()) != null; ) {
            String[] words = line.split("\t");
            if (words[0].equals("open")) instances.put(words[1], opened(words));
            else close(instances.remove(words[1]));
        }
        for (KafkaStreams each : instances.values()) close(each);
    }

    static KafkaStreams opened(String[] words) {
        Properties config = new Properties();
        for (int i = 4; i < words.length; i++) {
            String[] pair = words[i].split("=", 2);
            config.setProperty(pair[0], pair[1]);
        }
        KafkaStreams streams = new KafkaStreams(topology(words[2], words[3]), config);
        streams.setStateListener((now, before) -> emit(words[1], "state", now.name()));
        streams.setUncaughtExceptionHandler(e -> {
            emit(words[1], "error", e.toString());
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        return streams;
    }

    static Topology topology(String input, String output) {
        var builder = new StreamsBuilder();
        builder.stream(input, Consumed.with(Serdes.ByteArray(), Serdes.String()))
            .flatMapValues(line -> List.of(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.<String, String>as("words").withKeySerde(Serdes.String()).withValueSerde(Serdes.String()))
            .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("totals"))
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()).withCachingDisabled())
            .toStream()
            .mapValues(String::valueOf)
            .to(output, Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }

    /** Releases from 4.1 on have a CloseOptions of their own besides. */
    static void close(KafkaStreams streams) {
        streams.close(new KafkaStreams.CloseOptions().leaveGroup(true).timeout(Duration.ofSeconds(30)));
    }

    static void emit(String name, String what, String text) {
        System.out.println("event {\"name\":" + quote(name) + "," + quote(what) + ":" + quote(text) + "}");
    }

    static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
