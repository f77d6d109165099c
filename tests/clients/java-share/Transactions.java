import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Records of transactions, by what the group is to see of them. */
final class Transactions {
    private static final AcknowledgeType ACCEPT = AcknowledgeType.ACCEPT;
    private static final AcknowledgeType RELEASE = AcknowledgeType.RELEASE;
    private static final String LEVEL = "share.isolation.level";
    private static final String COMMITTED = "read_committed";
    private static final String UNCOMMITTED = "read_uncommitted";

    private Transactions() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testControlRecordsSkipped", s -> {
            KafkaProducer<String, String> producer = begun(s);
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(s.topic, 0, "k", "committed")).get();
            s.send("plain");
            producer.commitTransaction();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(s.topic, 0, "k", "aborted")).get();
            producer.abortTransaction();
            s.send("plain too");
            Member one = s.member().subscribe();
            Stage.same(List.of("committed", "plain", "aborted", "plain too"), Stage.values(one.gets(4)));
            one.getsNone();
        });
        all.put("testReadCommittedIsolationLevel", s ->
            Stage.same(List.of("1", "2", "3", "4", "6", "7", "8", "9"), tenWith(s, COMMITTED, 8)));
        all.put("testReadUncommittedIsolationLevel", s ->
            Stage.same(List.of("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"), tenWith(s, UNCOMMITTED, 10)));
        all.put("testAlterReadUncommittedToReadCommittedIsolationLevel", s -> {
            s.configure(LEVEL, UNCOMMITTED);
            KafkaProducer<String, String> producer = begun(s);
            Member one = s.explicit().subscribe();
            send(s, producer, "1", true);
            Stage.same(List.of("1"), Stage.values(one.settles(1, ACCEPT)));
            send(s, producer, "2", false);
            Stage.same(List.of("2"), Stage.values(one.settles(1, ACCEPT)));
            send(s, producer, "3", true);
            send(s, producer, "4", false);
            Stage.same(List.of("3", "4"), Stage.values(one.gathersAll(2, RELEASE)));
            s.configure(LEVEL, COMMITTED);
            fourMore(s, producer);
            Stage.same(List.of("3", "5", "8"), Stage.values(one.gathersAll(3, ACCEPT)));
            one.getsNone();
        });
        all.put("testAlterReadCommittedToReadUncommittedIsolationLevelWithReleaseAck", s ->
            Stage.same(Set.of("3", "5", "6", "7", "8"), toUncommitted(s, RELEASE, 5)));
        all.put("testAlterReadCommittedToReadUncommittedIsolationLevelWithRejectAck", s ->
            Stage.same(Set.of("5", "6", "7", "8"), toUncommitted(s, AcknowledgeType.REJECT, 4)));
    }

    private static KafkaProducer<String, String> begun(Stage s) {
        KafkaProducer<String, String> producer = s.producer("transactional.id", s.topic);
        producer.initTransactions();
        return producer;
    }

    private static void send(Stage s, KafkaProducer<String, String> producer, String value, boolean commits)
        throws Exception {
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(s.topic, 0, value, value)).get();
        if (commits) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private static void fourMore(Stage s, KafkaProducer<String, String> producer) throws Exception {
        send(s, producer, "5", true);
        send(s, producer, "6", false);
        send(s, producer, "7", false);
        send(s, producer, "8", true);
    }

    /** Ten transactions, of which every fifth is aborted. */
    private static List<String> tenWith(Stage s, String level, int count) throws Exception {
        s.configure(LEVEL, level);
        KafkaProducer<String, String> producer = begun(s);
        for (int each = 1; each <= 10; each++) {
            send(s, producer, String.valueOf(each), each % 5 != 0);
        }
        Member one = s.member().subscribe();
        List<String> found = Stage.values(one.gathers(count));
        one.getsNone();
        return found;
    }

    /** What a group gets that saw nothing of aborted transactions, and then sees all. */
    private static Set<String> toUncommitted(Stage s, AcknowledgeType said, int count) throws Exception {
        s.configure(LEVEL, COMMITTED, "share.delivery.count.limit", "10");
        KafkaProducer<String, String> producer = begun(s);
        Member one = s.explicit().listen().subscribe();
        send(s, producer, "1", true);
        Stage.same(List.of("1"), Stage.values(one.settles(1, ACCEPT)));
        send(s, producer, "2", false);
        passes(one, s, 3, said);
        send(s, producer, "3", true);
        send(s, producer, "4", false);
        List<String> third = new ArrayList<>();
        Stage.until("3", () -> {
            ConsumerRecords<String, String> found = one.poll(500);
            found.forEach(each -> third.add(each.value()));
            one.say(said, found);
            one.consumer.commitSync();
            return !third.isEmpty();
        });
        Stage.same("3", third.get(0));
        passes(one, s, 7, said);
        s.configure(LEVEL, UNCOMMITTED);
        fourMore(s, producer);
        Set<String> seen = new TreeSet<>();
        // What the last poll releases may come after what is new.
        Stage.until(count + " records", () -> {
            ConsumerRecords<String, String> found = one.poll(500);
            for (ConsumerRecord<String, String> each : found) {
                seen.add(each.value());
            }
            one.say(ACCEPT, found);
            one.consumer.commitSync();
            return seen.size() >= count;
        });
        return seen;
    }

    /** Polls until the client has let the marker at an offset go, as it does for what it hides. */
    private static void passes(Member one, Stage s, long marker, AcknowledgeType said) throws Exception {
        Stage.until("a marker at " + marker, () -> {
            one.say(said, one.poll(300));
            Set<Long> told = one.told.get(s.first());
            return told != null && told.contains(marker);
        });
    }
}
