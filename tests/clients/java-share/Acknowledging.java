import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.InvalidRecordStateException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.StringDeserializer;

/** What members say of records, one by one or all at once. */
final class Acknowledging {
    private static final AcknowledgeType ACCEPT = AcknowledgeType.ACCEPT;
    private static final AcknowledgeType RELEASE = AcknowledgeType.RELEASE;
    private static final AcknowledgeType REJECT = AcknowledgeType.REJECT;
    private static final AcknowledgeType RENEW = AcknowledgeType.RENEW;

    private Acknowledging() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testExplicitAcknowledgeSuccess", s -> {
            Member one = s.explicit().subscribe();
            s.send("a");
            one.say(ACCEPT, one.gets(1));
            s.send("b");
            Stage.same(List.of("b"), Stage.values(one.gets(1)));
        });
        all.put("testExplicitAcknowledgeCommitSuccess", Acknowledging::commitsBetween);
        all.put("testConfiguredExplicitAcknowledgeCommitSuccess", Acknowledging::commitsBetween);
        all.put("testExplicitAcknowledgementCommitAsync", s -> {
            s.fill(3);
            Member one = s.explicit().listen().subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(3);
            one.say(ACCEPT, found.subList(0, 2));
            one.say(RELEASE, found.subList(2, 3));
            one.consumer.commitAsync();
            Stage.same(2L, s.member().subscribe().gets(1).get(0).offset());
            one.hears();
            Stage.same(Map.of(), one.errors);
        });
        all.put("testExplicitAcknowledgementCommitAsyncPartialBatch", s -> {
            s.fill(3);
            Member one = s.explicit().listen().subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(3);
            one.say(ACCEPT, found.subList(0, 2));
            one.consumer.commitAsync();
            s.send("d");
            Stage.fails(IllegalStateException.class, () -> one.poll(1000));
            one.say(ACCEPT, found.subList(2, 3));
            one.consumer.commitAsync();
            found = one.gets(1);
            Stage.same(3L, found.get(0).offset());
            one.say(ACCEPT, found);
            one.poll(300);
            one.close();
            Stage.same(Set.of(0L, 1L, 2L, 3L), one.told.get(s.first()));
            Stage.same(Map.of(), one.errors);
        });
        all.put("testExplicitAcknowledgeReleasePollAccept", s -> {
            s.send("a");
            Member one = s.explicit().subscribe();
            one.say(RELEASE, one.gets(1));
            one.say(ACCEPT, one.gets(1));
            one.getsNone();
        });
        all.put("testExplicitAcknowledgeReleaseAccept", s -> {
            s.send("a");
            Member one = s.explicit().subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(1);
            one.say(RELEASE, found);
            one.say(ACCEPT, found);
            one.getsNone();
        });
        all.put("testExplicitAcknowledgeReleaseClose", s -> {
            s.send("a");
            Member one = s.explicit().subscribe();
            one.say(RELEASE, one.gets(1));
            one.close();
        });
        all.put("testExplicitAcknowledgeThrowsNotInBatch", s -> {
            s.send("a");
            Member one = s.explicit().subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(1);
            one.say(ACCEPT, found);
            one.getsNone();
            Stage.fails(IllegalStateException.class, () -> one.say(ACCEPT, found));
        });
        all.put("testExplicitOverrideAcknowledgeCorruptedMessage", s -> {
            s.fill(3);
            Member one = unreadable(s, 2);
            one.say(ACCEPT, one.gets(2));
            Stage.same(2L, unread(one).offset());
            one.consumer.commitSync();
            RecordDeserializationException again = unread(one);
            Stage.same(2L, again.offset());
            one.consumer.acknowledge(s.topic, 0, 2, REJECT);
            one.consumer.commitSync();
            Stage.same(0, one.consumer.poll(Duration.ZERO).count());
        });
        all.put("testExplicitAcknowledgeOffsetThrowsNotException", s -> {
            s.send("a");
            Member one = s.explicit().subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(1);
            Stage.fails(IllegalStateException.class, () -> one.consumer.acknowledge(s.topic, 0, 0, ACCEPT));
            one.say(ACCEPT, found);
        });
        all.put("testExplicitAcknowledgeOffsetThrowsParametersError", s -> {
            s.fill(2);
            Member one = unreadable(s, 1);
            one.say(ACCEPT, one.gets(1));
            Stage.same(1L, unread(one).offset());
            Stage.fails(IllegalStateException.class, () -> one.consumer.acknowledge("other", 0, 1, REJECT));
            Stage.fails(IllegalStateException.class, () -> one.consumer.acknowledge(s.topic, 1, 1, REJECT));
            Stage.fails(IllegalStateException.class, () -> one.consumer.acknowledge(s.topic, 0, 0, REJECT));
            one.consumer.acknowledge(s.topic, 0, 1, REJECT);
            one.consumer.commitSync();
            Stage.fails(IllegalStateException.class, () -> one.consumer.acknowledge(s.topic, 0, 1, REJECT));
            Stage.same(0, one.consumer.poll(Duration.ZERO).count());
        });
        all.put("testCommitSyncFailsForDeletedTopic", s -> {
            s.fill(10);
            Member one = s.explicit().subscribe();
            one.say(ACCEPT, one.gets(10));
            s.delete(s.topic);
            Stage.check(one.commitFails() instanceof UnknownTopicIdException, "not UNKNOWN_TOPIC_ID");
        });
        all.put("testPollAndExplicitAcknowledgeSingleMessageInRecordLimitMode", s -> {
            s.fill(10);
            Member one = s.explicit("max.poll.records", "1", "share.acquire.mode", "record_limit").subscribe();
            for (int each = 0; each < 10; each++) {
                one.settles(1, ACCEPT);
            }
        });
        all.put("testExplicitAcknowledgeSuccessInRecordLimitMode", s -> {
            s.fill(15);
            Member one = s.explicit("max.poll.records", "10", "share.acquire.mode", "record_limit").subscribe();
            one.settles(10, ACCEPT);
            one.settles(5, ACCEPT);
        });
        all.put("testExplicitAcknowledgeReleaseAcceptInRecordLimitMode", s -> {
            s.fill(20);
            Member one = s.explicit("max.poll.records", "10", "share.acquire.mode", "record_limit").subscribe();
            for (ConsumerRecord<String, String> each : one.gets(10)) {
                one.consumer.acknowledge(each, each.offset() % 2 == 0 ? ACCEPT : RELEASE);
                one.commits();
            }
            one.say(ACCEPT, one.gets(10));
            one.say(ACCEPT, one.gets(5));
        });
        implicit(all);
        renewing(all);
    }

    private static void implicit(Map<String, Cases.Case> all) {
        all.put("testImplicitAcknowledgeFailsExplicit", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(1);
            one.getsNone();
            Stage.fails(IllegalStateException.class, () -> one.say(ACCEPT, found));
        });
        all.put("testConfiguredImplicitAcknowledgeExplicitAcknowledgeFails", s -> {
            s.send("a");
            Member one = s.member("share.acknowledgement.mode", "implicit").subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(1);
            Stage.fails(IllegalStateException.class, () -> one.say(ACCEPT, found));
        });
        all.put("testImplicitAcknowledgeCommitSync", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            one.gets(1);
            one.commits();
            Stage.same(Map.of(), one.consumer.commitSync());
            one.getsNone();
        });
        all.put("testImplicitAcknowledgementCommitAsync", s -> {
            s.fill(3);
            Member one = s.member().listen().subscribe();
            one.gets(3);
            one.consumer.commitAsync();
            one.hears();
            Stage.same(Map.of(), one.errors);
        });
    }

    private static void renewing(Map<String, Cases.Case> all) {
        all.put("testRenewAcknowledgementOnPoll", s -> {
            s.fill(10);
            Member one = s.explicit().listen().subscribe();
            renewOdd(one, one.gets(10), false);
            one.say(ACCEPT, one.gets(5));
            one.commits();
            Stage.same(10, one.told.get(s.first()).size());
        });
        all.put("testRenewAcknowledgementOnCommitSync", s -> {
            s.fill(10);
            Member one = s.explicit().subscribe();
            List<ConsumerRecord<String, String>> found = one.gets(10);
            Optional<Integer> lock = one.consumer.acquisitionLockTimeoutMs();
            s.configure("share.record.lock.duration.ms", "25000");
            renewOdd(one, found, true);
            Stage.same(lock, one.consumer.acquisitionLockTimeoutMs());
            found = one.gets(5);
            Stage.same(Optional.of(25_000), one.consumer.acquisitionLockTimeoutMs());
            one.say(ACCEPT, found);
        });
        all.put("testRenewAcknowledgementInvalidStateRecord", s -> {
            s.send("a");
            Member one = s.explicit().subscribe();
            List<ConsumerRecord<String, String>> found = one.settles(1, REJECT);
            Stage.fails(IllegalStateException.class, () -> one.say(RENEW, found));
        });
        all.put("testRenewAcknowledgementDisabled", s -> {
            s.configure("share.renew.acknowledge.enable", "false");
            s.send("a");
            Member one = s.explicit().subscribe();
            one.say(RENEW, one.gets(1));
            Stage.check(one.commitFails() instanceof InvalidRecordStateException, "not INVALID_RECORD_STATE");
        });
        all.put("testRenewAcknowledgementNoResultInPoll", s -> {
            s.fill(10);
            Member one = s.explicit().listen().subscribe();
            renewOdd(one, one.gets(10), false);
            for (int each = 0; each < 5; each++) {
                s.send("later " + each);
            }
            List<ConsumerRecord<String, String>> found = one.gets(5);
            found.forEach(each -> Stage.same(1L, each.offset() % 2));
            one.say(ACCEPT, found);
            one.commits();
            List<ConsumerRecord<String, String>> later = one.gathersAll(5, ACCEPT);
            Stage.same(10L, later.get(0).offset());
            Stage.same(15, one.told.get(s.first()).size());
        });
    }

    private static void commitsBetween(Stage s) throws Exception {
        Member one = s.explicit().subscribe();
        s.send("a");
        one.say(ACCEPT, one.gets(1));
        s.send("b");
        one.commits();
        one.gets(1);
    }

    private static void renewOdd(Member one, List<ConsumerRecord<String, String>> found, boolean eachAlone) {
        for (ConsumerRecord<String, String> each : found) {
            one.consumer.acknowledge(each, each.offset() % 2 == 0 ? ACCEPT : RENEW);
            if (eachAlone) {
                one.commits();
            }
        }
    }

    /** A member that can't read the value at an offset. */
    private static Member unreadable(Stage s, int offset) {
        String bad = "value " + offset;
        StringDeserializer values = new StringDeserializer() {
            @Override
            public String deserialize(String topic, Headers headers, java.nio.ByteBuffer data) {
                String found = super.deserialize(topic, headers, data);
                if (found.equals(bad)) {
                    throw new SerializationException(bad);
                }
                return found;
            }
        };
        return s.memberOf(s.group, values, "share.acknowledgement.mode", "explicit").subscribe();
    }

    private static RecordDeserializationException unread(Member one) {
        return Stage.fails(RecordDeserializationException.class, () -> one.poll(20_000));
    }
}
