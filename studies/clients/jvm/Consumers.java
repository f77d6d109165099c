import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Any number of consumers, each in a thread of its own.
 *
 * A line on stdin is a command, tab-separated: "open NAME TOPIC,… COMMIT KEY=VALUE…", "close NAME".
 * What happens is a line on stdout, "event" and JSON; other lines there are the client's own log.
 * COMMIT is what the rebalance listener commits when partitions are taken away: see Commit.
 */
public final class Consumers {
    enum Commit {
        /** commitSync() as it is: the epoch of the last record that was read. */
        POSITION,
        /** Offsets alone. */
        NO_EPOCH,
        /** The current leader's epoch if it is higher, as KAFKA-19902 proposes. */
        LEADER_EPOCH
    }

    public static void main(String[] args) throws Exception {
        Map<String, Member> members = new HashMap<>();
        var commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = commands.readLine()) != null; ) {
            String[] words = line.split("\t");
            if (words[0].equals("open")) {
                var member = new Member(words);
                members.put(member.name, member);
                member.start();
            } else {
                members.remove(words[1]).leave();
            }
        }
        for (Member member : members.values()) member.leave();
        for (Member member : members.values()) member.join();
    }

    static final class Member extends Thread implements ConsumerRebalanceListener {
        final String name;
        final Commit commit;
        final KafkaConsumer<byte[], String> consumer;
        final Map<TopicPartition, ConsumerRecord<byte[], String>> read = new HashMap<>();
        volatile boolean leaving;
        Set<String> assigned = Set.of();

        Member(String[] words) {
            name = words[1];
            commit = Commit.valueOf(words[3]);
            Map<String, Object> config = new HashMap<>();
            for (int i = 4; i < words.length; i++) {
                String[] pair = words[i].split("=", 2);
                config.put(pair[0], pair[1]);
            }
            consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new StringDeserializer());
            consumer.subscribe(List.of(words[2].split(",")), this);
        }

        void leave() {
            leaving = true;  // no wakeup(): it could hit the commit that follows
        }

        @Override
        public void run() {
            try {
                while (!leaving) poll();
            } catch (Exception e) {
                raised(e);
            }
            try {
                consumer.close(Duration.ofSeconds(10));
            } catch (Exception e) {
                raised(e);
            }
            emit("closed");
        }

        void poll() {
            ConsumerRecords<byte[], String> polled = consumer.poll(Duration.ofMillis(20));
            Set<String> now = consumer.assignment().stream().map(partition -> quote(partition.toString()))
                .collect(Collectors.toCollection(TreeSet::new));
            if (!now.equals(assigned)) {
                assigned = now;
                emit("assigned", "partitions", now);
            }
            if (polled.isEmpty()) return;
            List<String> records = new ArrayList<>();
            for (var record : polled) {
                read.put(new TopicPartition(record.topic(), record.partition()), record);
                records.add("[" + quote(record.topic()) + "," + record.partition() + "," + record.offset() + ","
                    + record.leaderEpoch().orElse(-1) + "," + record.value() + "]");
            }
            emit("records", "records", records);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
            if (commit == Commit.POSITION) {
                consumer.commitSync();
                return;
            }
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            for (TopicPartition partition : revoked) {
                var last = read.get(partition);
                if (last == null) continue;
                long offset = last.offset() + 1;
                offsets.put(partition, commit == Commit.NO_EPOCH
                    ? new OffsetAndMetadata(offset)
                    : new OffsetAndMetadata(offset, highestEpoch(last), ""));
            }
            consumer.commitSync(offsets);
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        }

        /** The public API does not tell the leader's epoch. */
        Optional<Integer> highestEpoch(ConsumerRecord<byte[], String> last) {
            try {
                Object inner = consumer;
                try {
                    inner = field(consumer, "delegate");
                } catch (NoSuchFieldException e) {
                    // before 3.7 the consumer is all there is
                }
                var partition = new TopicPartition(last.topic(), last.partition());
                int leader = ((Metadata) field(inner, "metadata")).lastSeenLeaderEpoch(partition).orElse(-1);
                return Optional.of(Math.max(leader, last.leaderEpoch().orElse(-1)));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        void raised(Exception e) {
            emit("raised", "name", quote(e.getClass().getSimpleName()), "text", quote(String.valueOf(e.getMessage())));
        }

        void emit(String event, Object... fields) {
            var line = new StringBuilder("event {\"event\":").append(quote(event)).append(",\"consumer\":").append(quote(name));
            for (int i = 0; i < fields.length; i += 2)
                line.append(',').append(quote((String) fields[i])).append(':').append(fields[i + 1]);
            System.out.println(line.append('}'));
        }
    }

    static Object field(Object holder, String name) throws ReflectiveOperationException {
        Field field = holder.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(holder);
    }

    static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
