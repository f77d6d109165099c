import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.errors.InvalidRecordStateException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.WakeupException;

/** When and with what the callback of acknowledgements is called, and what it may do. */
final class Callbacks {
    private Callbacks() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testAcknowledgementCommitCallbackSuccessfulAcknowledgement", s -> {
            s.send("a");
            Member one = s.member().listen().subscribe();
            one.gets(1);
            one.hears();
            Stage.same(Map.of(), one.errors);
        });
        all.put("testAcknowledgementCommitCallbackOnClose", s -> {
            s.send("a");
            Member one = s.member().listen().subscribe();
            one.gets(1);
            one.poll(300);
            one.close();
            Stage.check(one.told.containsKey(s.first()), "the callback was not called");
            Stage.same(Map.of(), one.errors);
        });
        all.put("testAcknowledgementCommitCallbackInvalidRecordStateException", s -> {
            s.configure("share.record.lock.duration.ms", "1000");
            s.send("a");
            Member one = s.member().listen().subscribe();
            one.gets(1);
            s.waitForLock(one);
            one.hears();
            Stage.check(one.errors.get(s.first()) instanceof InvalidRecordStateException, "" + one.errors);
        });
        all.put("testAcknowledgementSentOnSubscriptionChange", s -> {
            String other = s.another("other");
            s.send("a");
            s.sendTo(other, "b");
            Member one = s.member().listen().subscribe();
            one.gets(1);
            one.subscribe(other);
            one.hears();
            one.hears(new org.apache.kafka.common.TopicPartition(other, 0));
            Stage.same(Map.of(), one.errors);
        });
        all.put("testAcknowledgementCommitCallbackCallsShareConsumerDisallowed", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            AtomicInteger refused = new AtomicInteger();
            one.consumer.setAcknowledgementCommitCallback((offsets, error) -> {
                Stage.fails(IllegalStateException.class, one.consumer::close);
                Stage.fails(IllegalStateException.class, one::subscribe);
                Stage.fails(IllegalStateException.class, () -> one.poll(100));
                refused.incrementAndGet();
            });
            one.gets(1);
            Stage.until("a call", () -> {
                one.poll(300);
                return refused.get() == 1;
            });
        });
        all.put("testAcknowledgementCommitCallbackCallsShareConsumerWakeup", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            one.consumer.setAcknowledgementCommitCallback((offsets, error) -> one.consumer.wakeup());
            one.gets(1);
            Stage.fails(WakeupException.class, () -> pollsOn(one));
        });
        all.put("testAcknowledgementCommitCallbackThrowsException", s -> {
            s.send("a");
            Member one = s.member().subscribe();
            AtomicInteger calls = new AtomicInteger();
            one.consumer.setAcknowledgementCommitCallback((offsets, error) -> {
                calls.incrementAndGet();
                throw new OutOfOrderSequenceException("of the callback");
            });
            one.gets(1);
            Stage.until("a call", () -> {
                one.poll(300);
                return calls.get() == 1;
            });
        });
    }

    private static void pollsOn(Member one) {
        for (int each = 0; each < 20; each++) {
            one.poll(500);
        }
    }
}
