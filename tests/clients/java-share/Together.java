import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.GroupMaxSizeReachedException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Several members, several groups, and what a record consists of. */
final class Together {
    private static final int MANY = 500;

    private Together() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testMultipleConsumersWithDifferentGroupIds", s -> {
            String other = s.group + "2";
            s.configureGroup(other, "share.auto.offset.reset", "earliest");
            Member one = s.member().subscribe();
            Member two = s.memberOf(other).subscribe();
            s.fill(3);
            one.gathers(3);
            two.gathers(3);
            s.fill(2);
            one.gathers(2);
            s.fill(3);
            one.gathers(3);
            two.gathers(5);
        });
        all.put("testMultipleConsumersInGroupSequentialConsumption", s -> {
            Member one = s.member().subscribe();
            Member two = s.member().subscribe();
            s.fill(MANY);
            Set<Long> found = new TreeSet<>();
            int count = 0;
            while (found.size() < MANY) {
                for (Member each : List.of(one, two)) {
                    ConsumerRecords<String, String> records = each.poll(200);
                    records.forEach(record -> found.add(record.offset()));
                    count += records.count();
                }
            }
            Stage.same(MANY, count);
        });
        all.put("testMultipleConsumersInGroupConcurrentConsumption", s -> {
            List<CompletableFuture<Void>> writers = writers(s);
            atOnce(s, s.group, 4, 4 * MANY);
            writers.forEach(CompletableFuture::join);
        });
        all.put("testMultipleConsumersInMultipleGroupsConcurrentConsumption", s -> {
            writers(s).forEach(CompletableFuture::join);
            List<CompletableFuture<Void>> groups = new ArrayList<>();
            for (String group : List.of(s.group, s.group + "2", s.group + "3")) {
                s.configureGroup(group, "share.auto.offset.reset", "earliest");
                groups.add(CompletableFuture.runAsync(() -> atOnce(s, group, 2, 4 * MANY)));
            }
            groups.forEach(CompletableFuture::join);
        });
        all.put("testMultipleConsumersInGroupFailureConcurrentConsumption", s -> {
            List<CompletableFuture<Void>> writers = writers(s);
            try (Member gone = s.member().subscribe()) {
                gone.some();
            }
            atOnce(s, s.group, 4, 4 * MANY);
            writers.forEach(CompletableFuture::join);
        });
        all.put("testConsumerCloseInGroupSequential", s -> {
            Member one = s.member().subscribe();
            Member two = s.member().subscribe();
            int many = 1500;
            s.fill(many / 2);
            s.fill(many / 2);
            int count = 0;
            int last = 0;
            while (count < many) {
                last = one.some().count();
                count += last;
            }
            Stage.same(many, count);
            one.close();
            two.gathers(last);
        });
        all.put("testShareGroupMaxSizeConfigExceeded", s -> {
            for (int each = 1; each <= 3; each++) {
                int members = each;
                Member one = s.member().subscribe();
                Stage.until(members + " members", () -> {
                    one.poll(100);
                    return s.assigned(s.group) == members;
                });
            }
            Member fourth = s.member().subscribe();
            Stage.fails(GroupMaxSizeReachedException.class, () -> Stage.until("a refusal", () -> {
                fourth.poll(500);
                return false;
            }));
        });
        all.put("testShareGroupShareSessionCacheIsFull", s -> {
            String other = s.group + "2";
            s.configureGroup(other, "share.auto.offset.reset", "earliest");
            Member one = s.member().subscribe();
            Member two = s.memberOf(other).subscribe();
            s.send("a");
            one.gets(1);
            s.send("b");
            two.getsNone();
            two.getsNone();
        });
        records(all);
    }

    private static void records(Map<String, Cases.Case> all) {
        all.put("testHeaders", s -> {
            ProducerRecord<String, String> sent = new ProducerRecord<>(s.topic, "k", "v");
            for (String each : List.of("a", "b", "c")) {
                sent.headers().add(each, ("of " + each).getBytes());
            }
            s.producer().send(sent).get();
            List<String> found = new ArrayList<>();
            for (Header each : s.member().subscribe().gets(1).get(0).headers()) {
                found.add(each.key() + " " + new String(each.value()));
            }
            Stage.same(List.of("a of a", "b of b", "c of c"), found);
        });
        all.put("testHeadersSerializerDeserializer", s -> {
            ProducerRecord<String, String> sent = new ProducerRecord<>(s.topic, "k", "v");
            sent.headers().add("kind", "text".getBytes());
            s.producer().send(sent).get();
            Set<String> seen = new ConcurrentSkipListSet<>();
            StringDeserializer values = new StringDeserializer() {
                @Override
                public String deserialize(String topic, Headers headers, java.nio.ByteBuffer data) {
                    seen.add(new String(headers.lastHeader("kind").value()));
                    return super.deserialize(topic, headers, data);
                }
            };
            s.memberOf(s.group, values).subscribe().gets(1);
            Stage.same(Set.of("text"), seen);
        });
    }

    private static List<CompletableFuture<Void>> writers(Stage s) {
        s.producer("linger.ms", "5");
        List<CompletableFuture<Void>> found = new ArrayList<>();
        for (int each = 0; each < 4; each++) {
            found.add(CompletableFuture.runAsync(() -> {
                for (int record = 0; record < MANY; record++) {
                    s.producer("linger.ms", "5").send(new ProducerRecord<>(s.topic, 0, "k", "v"));
                }
                s.producer("linger.ms", "5").flush();
            }));
        }
        return found;
    }

    /** Members of one group that read until all records were accepted, each once. */
    private static void atOnce(Stage s, String group, int members, int many) {
        Set<Long> found = new ConcurrentSkipListSet<>();
        List<CompletableFuture<Integer>> counts = new ArrayList<>();
        List<Member> made = new ArrayList<>();
        synchronized (s) {
            for (int each = 0; each < members; each++) {
                made.add(s.memberOf(group, "share.acknowledgement.mode", "explicit").subscribe());
            }
        }
        for (Member each : made) {
            counts.add(CompletableFuture.supplyAsync(() -> {
                int count = 0;
                while (found.size() < many) {
                    ConsumerRecords<String, String> records = each.poll(200);
                    for (ConsumerRecord<String, String> record : records) {
                        found.add(record.offset());
                    }
                    each.say(AcknowledgeType.ACCEPT, records);
                    each.consumer.commitSync();
                    count += records.count();
                }
                return count;
            }));
        }
        Stage.same(many, counts.stream().mapToInt(CompletableFuture::join).sum());
    }
}
