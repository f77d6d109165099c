import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.common.TopicPartition;

/** What admin clients see of a group: where it is, and its lag. */
final class Offsets {
    private static final AcknowledgeType ACCEPT = AcknowledgeType.ACCEPT;

    private Offsets() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testDescribeShareGroupOffsetsForEmptySharePartition", s -> {
            s.configure("share.auto.offset.reset", "latest");
            s.member().subscribe().poll(1000);
            Stage.check(s.offsets(s.first()) == null, "there is an offset");
        });
        all.put("testSharePartitionLagForSingleShareConsumer", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            one.gets(1);
            one.commits();
            s.lags(0);
            s.send("b");
            s.lags(1);
        });
        all.put("testSharePartitionLagForMultipleShareConsumers", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            Member two = s.member().subscribe();
            one.gets(1);
            one.commits();
            s.lags(0);
            s.send("b");
            two.gets(1);
            s.lags(1);
            two.commits();
            s.lags(0);
            s.send("c");
            s.lags(1);
        });
        all.put("testSharePartitionLagWithReleaseAcknowledgement", s -> {
            Member one = afterOne(s);
            one.settles(1, AcknowledgeType.RELEASE);
            s.lags(1);
            one.settles(1, ACCEPT);
            s.lags(0);
        });
        all.put("testSharePartitionLagWithRejectAcknowledgement", s -> {
            Member one = afterOne(s);
            one.settles(1, AcknowledgeType.REJECT);
            s.lags(0);
        });
        all.put("testSharePartitionLagAfterAlterShareGroupOffsets", s -> {
            s.configure("share.auto.offset.reset", "latest");
            s.fill(100);
            try (Member one = s.explicit().subscribe()) {
                Stage.until("an assignment", () -> {
                    one.getsNone();
                    return s.assigned(s.group) > 0;
                });
                one.getsNone();
                s.fill(5);
                one.settles(5, ACCEPT);
                s.lags(0);
            }
            s.admin.alterShareGroupOffsets(s.group, Map.of(s.first(), 40L)).all().get();
            Stage.same(40L, s.offsets(s.first()).startOffset());
            s.lags(65);
        });
        all.put("testSharePartitionLagAfterDeleteShareGroupOffsets", s -> {
            s.fill(5);
            try (Member one = s.explicit().subscribe()) {
                one.settles(5, ACCEPT);
                s.lags(0);
            }
            s.admin.deleteShareGroupOffsets(s.group, Set.of(s.topic)).all().get();
            Stage.check(s.offsets(s.first()) == null, "there is an offset still");
            s.explicit().subscribe().settles(5, ACCEPT);
            s.lags(0);
        });
        all.put("testSharePartitionLagOnGroupCoordinatorMovement", s -> moves(s, "__consumer_offsets"));
        all.put("testSharePartitionLagOnShareCoordinatorMovement", s -> moves(s, "__share_group_state"));
    }

    private static Member afterOne(Stage s) throws Exception {
        s.send("a");
        Member one = s.explicit().subscribe();
        one.settles(1, ACCEPT);
        s.lags(0);
        s.send("b");
        return one;
    }

    /** The broker that leads the only partition of an internal topic is stopped. */
    private static void moves(Stage s, String internal) throws Exception {
        TopicPartition first = s.first();
        s.send("a");
        Member one = s.member().subscribe();
        one.gets(1);
        one.commits();
        s.lags(0);
        s.send("b");
        s.lags(1);
        int before = s.leader(internal, 0);
        s.act("stop", String.valueOf(before));
        Stage.until("other leaders", () ->
            s.leader(internal, 0) != before && s.leader(s.topic, 0) != before
                && s.leader("__consumer_offsets", 0) != before && s.leader("__share_group_state", 0) != before);
        s.lags(first, 1);
        s.act("start", String.valueOf(before));
    }
}
