import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.WakeupException;

/** Who reads what, and from where. */
final class Subscribing {
    private Subscribing() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testPollNoSubscribeFails", s -> {
            Member one = s.member();
            Stage.same(Set.of(), one.consumer.subscription());
            Stage.fails(IllegalStateException.class, () -> one.poll(100));
        });
        all.put("testSubscribeAndPollNoRecords", s -> subscribed(s).getsNone());
        all.put("testSubscribePollUnsubscribe", s -> {
            Member one = subscribed(s);
            one.getsNone();
            one.consumer.unsubscribe();
            Stage.same(Set.of(), one.consumer.subscription());
        });
        all.put("testSubscribePollSubscribe", s -> {
            Member one = subscribed(s);
            one.getsNone();
            one.subscribe();
            Stage.same(Set.of(s.topic), one.consumer.subscription());
            one.getsNone();
        });
        all.put("testSubscribeUnsubscribePollFails", s -> {
            Member one = subscribed(s);
            one.getsNone();
            one.consumer.unsubscribe();
            Stage.fails(IllegalStateException.class, () -> one.poll(100));
        });
        all.put("testSubscribeSubscribeEmptyPollFails", s -> {
            Member one = subscribed(s);
            one.getsNone();
            one.consumer.subscribe(Set.of());
            Stage.same(Set.of(), one.consumer.subscription());
            Stage.fails(IllegalStateException.class, () -> one.poll(100));
        });
        all.put("testSubscriptionAndPoll", s -> {
            s.send("a");
            s.member().subscribe().gets(1);
        });
        all.put("testSubscriptionAndPollMultiple", s -> {
            Member one = s.member().subscribe();
            for (String each : List.of("a", "b", "c")) {
                s.send(each);
                Stage.same(List.of(each), Stage.values(one.gets(1)));
            }
        });
        all.put("testPollRecordsGreaterThanMaxBytes", s -> {
            s.send("a");
            s.member("fetch.max.bytes", "1").subscribe().gets(1);
        });
        all.put("testFetchRecordLargerThanMaxPartitionFetchBytes", s -> {
            s.send("small");
            s.send("x".repeat(10_000));
            s.member("max.partition.fetch.bytes", "10000").subscribe().gathers(2);
        });
        all.put("testMaxPollRecords", s -> {
            int many = 2_000;
            for (int each = 0; each < many; each++) {
                s.producer("linger.ms", "5").send(new ProducerRecord<>(s.topic, 0, 1_000L + each, "k" + each, "v" + each));
            }
            s.producer("linger.ms", "5").flush();
            long next = 0;
            for (ConsumerRecord<String, String> found : s.member("max.poll.records", "2").subscribe().gathers(many)) {
                is(found, next++);
            }
        });
        all.put("testPollInBatchOptimizedMode", s -> {
            s.fill(10);
            s.member("max.poll.records", "5", "share.acquire.mode", "batch_optimized").subscribe().gets(10);
        });
        all.put("testPollInRecordLimitMode", s -> {
            s.fill(10);
            s.member("max.poll.records", "5", "share.acquire.mode", "record_limit").subscribe().gets(5);
        });
        all.put("testPollThrowsInterruptExceptionIfInterrupted", s -> {
            Member one = s.member().subscribe();
            try {
                Thread.currentThread().interrupt();
                Stage.fails(InterruptException.class, () -> one.consumer.poll(Duration.ZERO));
            } finally {
                Thread.interrupted();
            }
            one.consumer.poll(Duration.ZERO);
        });
        all.put("testSubscribeOnInvalidTopicThrowsInvalidTopicException", s ->
            Stage.fails(InvalidTopicException.class, () -> s.member().subscribe("no topic").some()));
        all.put("testWakeupWithFetchedRecordsAvailable", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            one.consumer.wakeup();
            Stage.fails(WakeupException.class, () -> one.consumer.poll(Duration.ZERO));
            one.gets(1);
        });
        all.put("testSubscriptionFollowedByTopicCreation", s -> {
            String later = s.topic + "-later";
            Member one = s.member("metadata.max.age.ms", "200").subscribe(later);
            one.getsNone();
            s.create(later, 1, 1);
            for (String each : List.of("a", "b", "c")) {
                s.sendTo(later, each);
                Stage.same(List.of(each), Stage.values(one.gets(1)));
            }
        });
        all.put("testSubscriptionAndPollFollowedByTopicDeletion", s -> {
            String gone = s.another("gone");
            Member one = s.member().subscribe(s.topic, gone);
            s.sendTo(gone, "a");
            one.gets(1);
            s.send("b");
            one.gets(1);
            s.delete(gone);
            one.getsNone();
            for (String each : List.of("c", "d")) {
                s.send(each);
                Stage.same(List.of(each), Stage.values(one.gets(1)));
            }
        });
        starts(all);
    }

    private static void starts(Map<String, Cases.Case> all) {
        all.put("testLsoMovementByRecordsDeletion", s -> {
            s.fill(10);
            s.deleteBefore(5);
            reads(s, 5);
            s.fill(5);
            s.deleteBefore(14);
            reads(s, 1);
            s.deleteBefore(15);
            s.member().subscribe().getsNone();
        });
        all.put("testShareAutoOffsetResetDefaultValue", s -> fromTheEnd(s, s.group + "2"));
        all.put("testShareAutoOffsetResetEarliest", s -> {
            Member one = s.member().subscribe();
            for (String each : List.of("a", "b")) {
                s.send(each);
                one.gets(1);
            }
        });
        all.put("testShareAutoOffsetResetEarliestAfterLsoMovement", s -> {
            s.fill(10);
            s.deleteBefore(5);
            reads(s, 5);
        });
        all.put("testShareAutoOffsetResetMultipleGroupsWithDifferentValue", s -> {
            String late = s.group + "2";
            s.configureGroup(late, "share.auto.offset.reset", "latest");
            fromTheEnd(s, late);
            s.member().subscribe().gathers(2);
        });
        all.put("testShareAutoOffsetResetByDuration", s -> {
            s.configure("share.auto.offset.reset", "by_duration:PT1H");
            s.configureGroup(s.group + "2", "share.auto.offset.reset", "by_duration:PT3H");
            long now = System.currentTimeMillis();
            long minute = 60_000;
            for (long ago : List.of(120 * minute, 30 * minute, 0L)) {
                s.producer().send(new ProducerRecord<>(s.topic, 0, now - ago, "k", String.valueOf(ago / minute))).get();
            }
            Stage.same(List.of("30", "0"), Stage.values(s.member().subscribe().gathers(2)));
            Stage.same(List.of("120", "30", "0"), Stage.values(s.memberOf(s.group + "2").subscribe().gathers(3)));
        });
        all.put("testShareAutoOffsetResetByDurationInvalidFormat", s -> {
            for (String each : List.of("by_duration:1h", "by_duration:-PT1H")) {
                Stage.fails(InvalidConfigurationException.class, () -> s.configure("share.auto.offset.reset", each));
            }
        });
        all.put("testAddedPartitionsOfKnownTopicStartAtOffsetZero", s -> {
            s.configure("share.auto.offset.reset", "latest");
            s.fill(10);
            Member one = s.member("metadata.max.age.ms", "200").subscribe();
            beginsAtTheEnd(s, s.group, one);
            s.send("known");
            one.gets(1);
            s.admin.createPartitions(Map.of(s.topic, NewPartitions.increaseTo(2))).all().get();
            for (int each = 0; each < 10; each++) {
                s.producer().send(new ProducerRecord<>(s.topic, 1, "k", "new " + each)).get();
            }
            Set<String> found = new java.util.HashSet<>();
            Stage.until("all of the new partition", () -> {
                one.poll(500).records(new TopicPartition(s.topic, 1)).forEach(each -> found.add(each.value()));
                return found.size() == 10;
            });
        });
        all.put("testDynamicPartitionMaxRecordLocks", s -> {
            for (String each : List.of("500", "1000")) {
                s.configure("share.partition.max.record.locks", each);
                ConfigResource resource = new ConfigResource(ConfigResource.Type.GROUP, s.group);
                Stage.same(each, s.configured(resource, "share.partition.max.record.locks"));
            }
        });
    }

    private static Member subscribed(Stage s) {
        Member one = s.member().subscribe();
        Stage.same(Set.of(s.topic), one.consumer.subscription());
        return one;
    }

    private static void is(ConsumerRecord<String, String> found, long number) {
        Stage.same(1_000L + number, found.timestamp());
        Stage.same("k" + number, found.key());
        Stage.same("v" + number, found.value());
        Stage.same(("v" + number).length(), found.serializedValueSize());
    }

    private static void reads(Stage s, int count) throws Exception {
        try (Member one = s.member().subscribe()) {
            one.gathers(count);
            one.commits();
        }
    }

    /** The leader knows where the group begins once its member has asked for records of an assignment. */
    private static void beginsAtTheEnd(Stage s, String group, Member one) throws Exception {
        Stage.until("an assignment", () -> {
            one.getsNone();
            return s.assigned(group) > 0;
        });
        one.getsNone();
    }

    /** A group that begins with the latest records does not get those that were there. */
    private static void fromTheEnd(Stage s, String group) throws Exception {
        s.send("before");
        Member one = s.memberOf(group).subscribe();
        beginsAtTheEnd(s, group, one);
        s.send("after");
        Stage.same(List.of("after"), Stage.values(one.gets(1)));
    }
}
