import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** Records that go to the dead letter topic of their group before they are archived. */
final class DeadLetters {
    private static final AcknowledgeType REJECT = AcknowledgeType.REJECT;
    private static final AcknowledgeType RELEASE = AcknowledgeType.RELEASE;
    private static final String TOPIC = "errors.deadletterqueue.topic.name";
    private static final String TAKES = "errors.deadletterqueue.group.enable";
    private static final String COPIES = "errors.deadletterqueue.copy.record.enable";
    private static final String MOST = "max.message.bytes";

    private DeadLetters() {
    }

    static void add(Map<String, Cases.Case> all) {
        all.put("testRejectedRecordsWrittenToDlqWithCopyRecordDisabled", s -> {
            String dead = created(s, 1);
            s.fill(5);
            s.explicit().subscribe().settles(5, REJECT);
            lettersOf(s, dead, 0, 1, 2, 3, 4);
        });
        all.put("testRejectedRecordsWrittenToAutoCreatedDlq", s -> {
            String dead = "dlq." + s.topic;
            s.configure(TOPIC, dead);
            s.fill(5);
            s.explicit().subscribe().settles(5, REJECT);
            Stage.until(dead, () -> s.admin.listTopics().names().get().contains(dead));
            lettersOf(s, dead, 0, 1, 2, 3, 4);
            Stage.same("true", s.configured(new ConfigResource(ConfigResource.Type.TOPIC, dead), TAKES));
        });
        all.put("testReleasedRecordsExceedingDeliveryCountWrittenToDlq", s -> {
            s.configure("share.delivery.count.limit", "2");
            String dead = created(s, 1);
            s.fill(5);
            Member one = s.explicit().subscribe();
            one.settles(5, RELEASE);
            one.gathersAll(5, RELEASE);
            lettersOf(s, dead, 0, 1, 2, 3, 4);
        });
        all.put("testMixedAcknowledgementTypesWrittenToDlq", s -> {
            s.configure("share.delivery.count.limit", "2");
            String dead = created(s, 1);
            s.fill(6);
            Member one = s.explicit().subscribe();
            int deliveries = 0;
            while (deliveries < 8) {
                ConsumerRecords<String, String> found = one.some();
                for (ConsumerRecord<String, String> each : found) {
                    one.consumer.acknowledge(each, List.of(REJECT, RELEASE, AcknowledgeType.ACCEPT).get((int) each.offset() % 3));
                }
                one.commits();
                deliveries += found.count();
            }
            one.getsNone();
            lettersOf(s, dead, 0, 1, 3, 4);
        });
        all.put("testRejectedRecordsWrittenToDlqWithCopyRecordEnabled", s -> {
            String dead = created(s, 1);
            s.configure(COPIES, "true");
            s.fill(5);
            s.explicit().subscribe().settles(5, REJECT);
            List<String> values = new ArrayList<>();
            letters(dead, s, 0, 5).forEach(each -> values.add(each.key() + " " + each.value()));
            Stage.same(new TreeSet<>(List.of("key 0 value 0", "key 1 value 1", "key 2 value 2", "key 3 value 3",
                "key 4 value 4")), new TreeSet<>(values));
        });
        all.put("testDlqRecordsRoutedToCorrectDlqPartition", s -> {
            String source = s.create(s.topic + "-two", 2, 1);
            String dead = created(s, 2);
            for (int each = 0; each < 6; each++) {
                s.producer().send(new ProducerRecord<>(source, each % 2, "k", "v")).get();
            }
            Member one = s.explicit().subscribe(source);
            int rejected = 0;
            while (rejected < 6) {
                ConsumerRecords<String, String> found = one.some();
                one.say(REJECT, found);
                one.consumer.commitSync();
                rejected += found.count();
            }
            for (int partition = 0; partition < 2; partition++) {
                Set<String> told = new TreeSet<>();
                for (ConsumerRecord<String, String> each : letters(dead, s, partition, 3)) {
                    told.add(header(each, "topic") + " " + header(each, "partition") + " " + header(each, "offset"));
                }
                String place = source + " " + partition + " ";
                Stage.same(Set.of(place + 0, place + 1, place + 2), told);
            }
        });
        all.put("testManyRejectedRecordsAllWrittenToDlq", s -> {
            String dead = created(s, 1);
            s.fill(500);
            s.explicit().subscribe().gathersAll(500, REJECT);
            Stage.same(500, letters(dead, s, 0, 500).size());
        });
        all.put("testDlqNotTriggeredWhenGatedOff", s -> {
            archives(s, "unnamed", null);
            s.create("dlq.disabled", 1, 1);
            archives(s, "disabled", "dlq.disabled");
            archives(s, "missing", "dlq.missing");
            s.create("wrong.prefix", 1, 1, TAKES, "true");
            archives(s, "prefix", "wrong.prefix");
            for (String name : List.of("dlq.disabled", "wrong.prefix")) {
                Stage.same(0L, end(s, name));
            }
            Stage.check(!s.admin.listTopics().names().get().contains("dlq.missing"), "dlq.missing was made");
        });
        all.put("testDlqStopsAfterDisablingForGroup", s -> {
            String dead = created(s, 1);
            Member one = s.explicit().subscribe();
            s.fill(5);
            one.settles(5, REJECT);
            lettersOf(s, dead, 0, 1, 2, 3, 4);
            s.configure(TOPIC, "");
            s.fill(5);
            one.settles(5, REJECT);
            one.getsNone();
            one.getsNone();
            Stage.same(5L, end(s, dead));
        });
        all.put("testDlqRespectsDlqTopicMaxMessageBytesNotEqToSourceTopic", s -> {
            String source = s.create(s.topic + "-large", 1, 1, MOST, "300000");
            String dead = s.create("dlq." + s.topic, 1, 1, TAKES, "true", MOST, "100000");
            s.configure(TOPIC, dead, COPIES, "true");
            String value = "v".repeat(98_000);
            KafkaProducer<String, String> patient = s.producer("linger.ms", "5000", "batch.size", "1000000", "max.request.size", "1000000");
            for (int round = 1; round <= 2; round++) {
                for (int each = 0; each < 3; each++) {
                    patient.send(new ProducerRecord<>(source, 0, "k", value));
                }
                patient.flush();
                try (Member one = s.explicit().subscribe(source)) {
                    one.gathersAll(3, REJECT);
                }
                for (ConsumerRecord<String, String> each : letters(dead, s, 0, 3 * round)) {
                    Stage.check(value.equals(each.value()), "another value");
                }
                s.configureTopic(dead, MOST, "600000");
            }
        });
        all.put("testDlqCopyRecordSkippedWhenDecompressedSizeExceedsDlqMaxMessageBytes", s -> {
            String value = "a".repeat(200_000);
            Member one = s.explicit().subscribe();
            s.configure(COPIES, "true");
            for (int most : List.of(2_000, 500_000)) {
                String dead = s.create("dlq." + s.topic + most, 1, 1, TAKES, "true", MOST, String.valueOf(most));
                s.configure(TOPIC, dead);
                KafkaProducer<String, String> small = s.producer("compression.type", "gzip", "linger.ms", "100");
                for (int each = 0; each < 2; each++) {
                    small.send(new ProducerRecord<>(s.topic, 0, "k", value));
                }
                small.flush();
                one.gathersAll(2, REJECT);
                for (ConsumerRecord<String, String> each : letters(dead, s, 0, 2)) {
                    Stage.check(most > 2_000 ? value.equals(each.value()) : each.value() == null, "copied: " + (each.value() != null));
                }
            }
        });
    }

    private static String created(Stage s, int partitions) throws Exception {
        String dead = s.create("dlq." + s.topic, partitions, 1, TAKES, "true");
        s.configure(TOPIC, dead);
        return dead;
    }

    /** Records of a topic are rejected by a group that has nowhere to write letters, and do not come again. */
    private static void archives(Stage s, String name, String dead) throws Exception {
        String source = s.another(name);
        s.configureGroup(source, "share.auto.offset.reset", "earliest");
        if (dead != null) {
            s.configureGroup(source, TOPIC, dead);
        }
        for (int each = 0; each < 3; each++) {
            s.sendTo(source, "v");
        }
        try (Member one = s.memberOf(source, "share.acknowledgement.mode", "explicit").subscribe(source)) {
            one.gathersAll(3, REJECT);
        }
        Member two = s.memberOf(source).subscribe(source);
        two.getsNone();
        two.getsNone();
    }

    /** One letter of each offset, without key and value. */
    private static void lettersOf(Stage s, String dead, long... offsets) throws Exception {
        Set<String> expected = new HashSet<>();
        for (long each : offsets) {
            expected.add(s.group + " " + s.topic + " 0 " + each);
        }
        Set<String> told = new HashSet<>();
        List<ConsumerRecord<String, String>> found = letters(dead, s, 0, offsets.length);
        for (ConsumerRecord<String, String> each : found) {
            Stage.check(each.key() == null && each.value() == null, "a copy: " + each);
            told.add(header(each, "group") + " " + header(each, "topic") + " " + header(each, "partition") + " "
                + header(each, "offset"));
        }
        Stage.same(offsets.length, found.size());
        Stage.same(expected, told);
    }

    private static String header(ConsumerRecord<String, String> letter, String name) {
        return new String(letter.headers().lastHeader("__dlq.errors." + name).value());
    }

    private static List<ConsumerRecord<String, String>> letters(String dead, Stage s, int partition, int count) throws Exception {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        try (KafkaConsumer<String, String> reader = s.reader()) {
            TopicPartition of = new TopicPartition(dead, partition);
            reader.assign(List.of(of));
            reader.seekToBeginning(List.of(of));
            Stage.until(count + " letters in " + of, () -> {
                reader.poll(Duration.ofMillis(200)).forEach(found::add);
                return found.size() >= count;
            });
        }
        return found;
    }

    private static long end(Stage s, String name) {
        TopicPartition of = new TopicPartition(name, 0);
        try (KafkaConsumer<String, String> reader = s.reader()) {
            return reader.endOffsets(List.of(of)).get(of);
        }
    }
}
