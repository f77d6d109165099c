import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;

/** How often records are delivered, and how many of those that were delivered often. */
final class Delivering {
    private static final AcknowledgeType ACCEPT = AcknowledgeType.ACCEPT;
    private static final AcknowledgeType RELEASE = AcknowledgeType.RELEASE;
    private static final String LIMIT = "share.delivery.count.limit";

    private Delivering() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testAcquisitionLockTimeoutOnConsumer", s -> {
            s.configure("share.record.lock.duration.ms", "1500");
            Member one = s.member().subscribe();
            s.send("a");
            Stage.same(List.of("a"), Stage.values(one.gets(1)));
            one.getsNone();
            s.send("b");
            Stage.same(List.of("b"), Stage.values(one.gets(1)));
            s.waitForLock(one);
            Stage.same(List.of("b"), Stage.values(one.gets(1)));
            one.getsNone();
        });
        all.put("testDeliveryCountDifferentBehaviorWhenClosingSessionWithExplicitAcknowledgement", s -> {
            s.fill(2);
            try (Member one = s.explicit().subscribe()) {
                one.say(RELEASE, one.gets(2).subList(0, 1));
                one.commits();
            }
            List<ConsumerRecord<String, String>> found = s.member().subscribe().gets(2);
            counts(2, found);
        });
        all.put("testBehaviorOnDeliveryCountBoundary", s -> {
            s.configure(LIMIT, "3");
            s.send("a");
            try (Member one = s.explicit().subscribe()) {
                counts(1, one.settles(1, RELEASE));
                counts(2, one.gets(1));
            }
            try (Member two = s.member().subscribe()) {
                counts(3, two.gets(1));
            }
            s.member().subscribe().getsNone();
        });
        all.put("testDynamicDeliveryCountLimitDecreaseArchivesRecords", s -> worn(s, 2, "3", 3));
        all.put("testDynamicDeliveryCountLimitIncreaseAllowsMoreDeliveries", s -> {
            s.configure(LIMIT, "3");
            worn(s, 2, "5", 5);
        });
        all.put("testFetchWithThrottledDelivery", s -> {
            s.fill(100);
            Member one = s.explicit().subscribe();
            for (int count : List.of(100, 100, 100, 50, 1)) {
                one.settles(count, RELEASE);
            }
            released(one, 1, 50, 1);
            released(one, 50, 100, 50);
            released(one, 50, 100, 1);
            one.getsNone();
        });
        all.put("testFetchWithThrottledDeliveryBatchesWithIncreasedDeliveryLimit", s -> {
            s.configure(LIMIT, "10");
            s.fill(64);
            Member one = s.explicit().subscribe();
            for (int each = 0; each < 5; each++) {
                one.settles(64, RELEASE);
            }
            halves(one, 0, 64, 64);
            one.getsNone();
        });
        all.put("testFetchWithThrottledDeliveryValidateDeliveryCount", s -> {
            s.configure(LIMIT, "10");
            s.fill(50);
            Member one = s.explicit().subscribe();
            Map<Long, Integer> times = new HashMap<>();
            for (int count : List.of(50, 50, 50, 50, 50, 25, 12, 6, 3, 1)) {
                one.settles(count, RELEASE).forEach(each -> times.merge(each.offset(), 1, Integer::sum));
            }
            long left = 50L * 10 - times.values().stream().mapToInt(each -> each).sum();
            while (left > 0) {
                ConsumerRecords<String, String> found = one.some();
                found.forEach(each -> times.merge(each.offset(), 1, Integer::sum));
                one.say(RELEASE, found);
                one.commits();
                left -= found.count();
            }
            one.getsNone();
            Stage.same(50L, times.values().stream().filter(each -> each == 10).count());
        });
        all.put("testFetchWithThrottledDeliveryBatchesWithDecreasedDeliveryLimit", s -> {
            s.configure(LIMIT, "2");
            s.fill(512);
            Member one = s.explicit("max.poll.records", "512").subscribe();
            one.settles(512, RELEASE);
            one.settles(512, RELEASE);
            one.getsNone();
        });
        all.put("testFetchWithThrottledDeliveryBatchesMultipleConsumers", s -> {
            s.send("a");
            s.send("b");
            Member one = s.explicit("max.poll.records", "1").subscribe();
            Member two = s.explicit("max.poll.records", "2").subscribe();
            List<ConsumerRecord<String, String>> first = one.gets(1);
            Stage.same(0L, first.get(0).offset());
            for (int each = 0; each < 4; each++) {
                Stage.same(1L, two.settles(1, RELEASE).get(0).offset());
            }
            one.say(RELEASE, first);
            one.commits();
            Stage.same(0L, two.settles(1, ACCEPT).get(0).offset());
            Stage.same(1L, two.settles(1, ACCEPT).get(0).offset());
            one.getsNone();
        });
        all.put("testComplexShareConsumer", s -> {
            int many = 140;
            int limit = 5;
            s.fill(many);
            Member one = s.explicit().subscribe();
            Map<Long, Integer> times = new HashMap<>();
            long settled = 0;
            while (settled < many) {
                for (ConsumerRecord<String, String> each : one.some()) {
                    int deliveries = each.deliveryCount().orElseThrow();
                    // Of seven records one is rejected, five are accepted at their first to fifth delivery, and one never is.
                    long accepted = each.offset() % (limit + 2);
                    AcknowledgeType said = accepted == 0 ? AcknowledgeType.REJECT
                        : accepted == deliveries ? ACCEPT : RELEASE;
                    one.consumer.acknowledge(each, said);
                    times.put(each.offset(), deliveries);
                    settled += said != RELEASE || deliveries == limit ? 1 : 0;
                }
            }
            one.getsNone();
            times.forEach((offset, deliveries) ->
                Stage.same((int) Math.max(1, Math.min(limit, offset % (limit + 2))), deliveries));
        });
    }

    /** Releases a record some times, then with another limit until it is archived. */
    private static void worn(Stage s, int times, String limit, int last) throws Exception {
        s.send("a");
        Member one = s.explicit().subscribe();
        for (int each = 1; each <= times; each++) {
            counts(each, one.settles(1, RELEASE));
        }
        s.configure(LIMIT, limit);
        for (int each = times + 1; each <= last; each++) {
            counts(each, one.settles(1, RELEASE));
        }
        one.getsNone();
    }

    /** Records that were delivered half as often as they may be come by the half, then by the half of that, and so on.
     * The last time each comes alone. */
    private static void halves(Member one, int first, int end, int all) throws Exception {
        int count = end - first;
        if (count < all) {
            released(one, first, end, count);
        }
        if (count == all / 16) {
            released(one, first, end, 1);
            return;
        }
        int middle = (first + end) / 2;
        halves(one, first, middle, all);
        halves(one, middle, end, all);
    }

    private static void released(Member one, int first, int end, int count) throws Exception {
        for (int offset = first; offset < end; offset += count) {
            List<ConsumerRecord<String, String>> found = one.settles(count, RELEASE);
            Stage.same((long) offset, found.get(0).offset());
            Stage.same((long) offset + count - 1, found.get(count - 1).offset());
        }
    }

    private static void counts(int expected, List<ConsumerRecord<String, String>> found) {
        found.forEach(each -> Stage.same(Optional.of((short) expected), each.deliveryCount()));
    }
}
