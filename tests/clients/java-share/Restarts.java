import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;

/** Brokers that stop while members read, and start again. */
final class Restarts {
    private static final AcknowledgeType ACCEPT = AcknowledgeType.ACCEPT;

    private Restarts() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testConsumerCloseOnBrokerShutdown", s -> {
            Member one = s.member().subscribe();
            one.getsNone();
            s.act("stop", "all");
            long began = System.nanoTime();
            one.consumer.close(Duration.ofSeconds(30));
            long tookMs = (System.nanoTime() - began) / 1_000_000;
            s.act("start", "all");
            Stage.check(tookMs < 20_000, "took " + tookMs + " ms");
        });
        all.put("testLeaderRestartWithoutLeadershipChangeExplicitAcknowledgementSync", s -> {
            Member one = s.explicit().listen().subscribe();
            one.say(ACCEPT, overRestart(s, one));
            KafkaException failed = one.commitFails();
            Stage.check(failed instanceof NetworkException, "" + failed);
            Stage.check(one.errors.get(s.first()) instanceof NetworkException, "" + one.errors);
        });
        all.put("testLeaderRestartWithoutLeadershipChangeExplicitAcknowledgementAsync", s -> {
            Member one = s.explicit().listen().subscribe();
            one.say(ACCEPT, overRestart(s, one));
            one.consumer.commitAsync();
            hearsOfTheNetwork(s, one, true);
        });
        all.put("testLeaderRestartWithoutLeadershipChangeImplicitAcknowledgement", s -> {
            Member one = s.member().listen().subscribe();
            overRestart(s, one);
            hearsOfTheNetwork(s, one, false);
        });
        all.put("testShareConsumerAfterCoordinatorMovement", s -> {
            Member one = s.member().subscribe();
            Set<String> sent = new HashSet<>();
            Set<String> found = new HashSet<>();
            for (int each = 0; each < 60; each++) {
                if (each == 20) {
                    s.act("stop", String.valueOf(s.leader("__share_group_state", 0)));
                }
                s.send("value " + each);
                sent.add("value " + each);
                one.poll(50).forEach(record -> found.add(record.value()));
            }
            Stage.until("all records", () -> {
                one.poll(500).forEach(record -> found.add(record.value()));
                return found.equals(sent);
            });
            s.act("start", "all");
        });
    }

    /** What a member acquired before its only broker stopped and started. */
    private static List<ConsumerRecord<String, String>> overRestart(Stage s, Member one) throws Exception {
        s.send("a");
        List<ConsumerRecord<String, String>> found = one.gets(1);
        s.act("stop", "all");
        Stage.fails(TimeoutException.class, () ->
            s.admin.describeCluster(new DescribeClusterOptions().timeoutMs(2_000)).clusterId().get());
        s.act("start", "all");
        return found;
    }

    private static void hearsOfTheNetwork(Stage s, Member one, boolean explicitly) throws Exception {
        Stage.until("an acknowledgement", () -> {
            ConsumerRecords<String, String> found = one.poll(500);
            if (explicitly) {
                one.say(ACCEPT, found);
            }
            return one.errors.containsKey(s.first());
        });
        Stage.check(one.errors.get(s.first()) instanceof NetworkException, "" + one.errors);
    }
}
