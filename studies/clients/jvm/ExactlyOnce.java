import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Moves every record of a topic to another, in transactions of a few, as KafkaProducer's documentation says.
 *
 * A line on stdin is a job, tab-separated: bootstrap, input, output, group, transactional id, how many records,
 * how many of them in a transaction, how many milliseconds it may take,
 * and how many it waits in the middle of a transaction. Each gets a line on stdout, "event" and JSON:
 * whether all were moved, and the errors that were overcome.
 */
public final class ExactlyOnce {
    final String bootstrap, input, output, group, transactionalId;
    final int records, batch, pause;
    final long end;
    final List<String> errors = new ArrayList<>();
    final KafkaConsumer<byte[], byte[]> consumer;
    KafkaProducer<byte[], byte[]> producer;

    public static void main(String[] args) throws Exception {
        var jobs = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = jobs.readLine()) != null; ) {
            var job = new ExactlyOnce(line.split("\t"));
            boolean moved = job.run();
            System.out.println("event {\"moved\":" + moved + ",\"errors\":["
                + String.join(",", job.errors) + "]}");
        }
    }

    ExactlyOnce(String[] words) {
        bootstrap = words[0];
        input = words[1];
        output = words[2];
        group = words[3];
        transactionalId = words[4];
        records = Integer.parseInt(words[5]);
        batch = Integer.parseInt(words[6]);
        pause = Integer.parseInt(words[8]);
        end = System.nanoTime() + Long.parseLong(words[7]) * 1_000_000;
        Map<String, Object> config = soon(1000);
        config.putAll(Map.of("group.id", group, "isolation.level", "read_committed", "enable.auto.commit", false,
            "auto.offset.reset", "earliest", "fetch.max.wait.ms", 50, "max.poll.records", batch,
            "heartbeat.interval.ms", 500, "session.timeout.ms", 10_000, "default.api.timeout.ms", 2000));
        consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    Map<String, Object> soon(int timeout) {
        return new HashMap<>(Map.of("bootstrap.servers", bootstrap, "request.timeout.ms", timeout,
            "retry.backoff.ms", 20, "reconnect.backoff.ms", 20, "reconnect.backoff.max.ms", 50));
    }

    boolean run() throws InterruptedException {
        consumer.subscribe(List.of(input));
        try {
            while (!allMoved()) {
                if (System.nanoTime() > end) return false;
                try {
                    if (producer == null) open();
                    moveSome();
                } catch (ProducerFencedException | InvalidProducerEpochException | OutOfOrderSequenceException
                         | AuthorizationException | UnsupportedVersionException e) {
                    note(e);
                    close();
                } catch (KafkaException | IllegalStateException e) {
                    note(e);
                    abort();
                }
            }
            return true;
        } finally {
            close();
            consumer.close(Duration.ofSeconds(5));
        }
    }

    void open() {
        Map<String, Object> config = soon(1000);
        config.putAll(Map.of("transactional.id", transactionalId, "transaction.timeout.ms", 20_000,
            "delivery.timeout.ms", 10_000, "max.block.ms", 10_000, "enable.idempotence", true));
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        rewind();
    }

    void close() {
        if (producer != null) producer.close(Duration.ZERO);
        producer = null;
    }

    void moveSome() throws InterruptedException {
        ConsumerRecords<byte[], byte[]> polled = consumer.poll(Duration.ofMillis(100));
        if (polled.isEmpty()) return;
        producer.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        int sent = 0;
        for (ConsumerRecord<byte[], byte[]> record : polled) {
            if (sent++ == polled.count() / 2) Thread.sleep(pause);
            producer.send(new ProducerRecord<>(output, record.partition(), null, record.value()));
            positions.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        producer.sendOffsetsToTransaction(positions, consumer.groupMetadata());
        producer.commitTransaction();
    }

    void abort() {
        try {
            if (producer != null) producer.abortTransaction();
            rewind();
        } catch (KafkaException | IllegalStateException e) {
            note(e);
            close();
        }
    }

    /** Back to what is committed. */
    void rewind() {
        Set<TopicPartition> assigned = consumer.assignment();
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(assigned);
        for (TopicPartition each : assigned) {
            OffsetAndMetadata offset = committed.get(each);
            consumer.seek(each, offset == null ? 0 : offset.offset());
        }
    }

    boolean allMoved() {
        try {
            long sum = 0;
            for (OffsetAndMetadata each : consumer.committed(consumer.assignment()).values())
                sum += each == null ? 0 : each.offset();
            return sum == records;
        } catch (KafkaException e) {
            note(e);
            return false;
        }
    }

    void note(RuntimeException e) {
        errors.add('"' + e.getClass().getSimpleName() + '"');
    }
}
