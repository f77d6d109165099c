import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A KafkaProducer. Its transactional calls have no timeouts of their own: max.block.ms limits them. Unless it is
 * configured, that is the timeout of `open`.
 */
final class ProducerHandle implements Handle {
    private static final ScheduledExecutorService ALARMS = Executors.newSingleThreadScheduledExecutor(runnable -> {
        Thread thread = new Thread(runnable, "alarms");
        thread.setDaemon(true);
        return thread;
    });

    private final KafkaProducer<byte[], byte[]> producer;

    ProducerHandle(Call call) throws Exception {
        Map<String, Object> config = call.config();
        if (call.has("timeout_ms")) config.putIfAbsent("max.block.ms", call.text("timeout_ms"));
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        if (!config.containsKey("transactional.id") || call.isFalse("initializes")) return;
        try {
            producer.initTransactions();
        } catch (RuntimeException error) {
            close(0);
            throw error;
        }
    }

    @Override
    public Map<String, ?> call(Call call) throws Exception {
        switch (call.verb) {
            case "produce":
                produce(call);
                return null;
            case "flush":
                flush(call.number("timeout_ms"));
                return Map.of();
            case "init-transactions":
                producer.initTransactions();
                return Map.of();
            case "partitions":
                return Map.of("partitions", producer.partitionsFor(call.text("topic")).size());
            case "begin":
                producer.beginTransaction();
                return Map.of();
            case "send-offsets":
                sendOffsets(call);
                return Map.of();
            case "commit-transaction":
                producer.commitTransaction();
                return Map.of();
            case "abort-transaction":
                producer.abortTransaction();
                return Map.of();
            case "close":
                close(call.number("timeout_ms"));
                return Map.of();
            default:
                throw new UnsupportedException("a producer has no verb " + call.verb);
        }
    }

    private void produce(Call call) {
        Integer partition = call.has("partition") ? Integer.valueOf((int) call.number("partition")) : null;
        var record = new ProducerRecord<>(call.text("topic"), partition, call.bytes("key"), call.bytes("value"));
        call.headers().forEach(record.headers()::add);
        producer.send(record, (metadata, error) -> {
            if (error != null) {
                call.fail(error, false);
                return;
            }
            Map<String, Object> sent = new HashMap<>();
            sent.put("partition", metadata.partition());
            sent.put("offset", metadata.hasOffset() ? metadata.offset() : null);
            call.answer(sent);
        });
    }

    /** `flush` takes no timeout: an application that won't wait longer interrupts it. */
    private void flush(long timeoutMs) {
        Thread caller = Thread.currentThread();
        ScheduledFuture<?> alarm = ALARMS.schedule(caller::interrupt, timeoutMs, TimeUnit.MILLISECONDS);
        try {
            producer.flush();
        } finally {
            if (!alarm.cancel(false)) Thread.interrupted();
        }
    }

    private void sendOffsets(Call call) throws Exception {
        String member = call.text("consumer");
        Method metadata = Handle.method(ConsumerHandle.CLIENT, "groupMetadata");
        if (metadata == null) { // before KIP-447, in 2.5
            Method byGroup = Handle.method(KafkaProducer.class, "sendOffsetsToTransaction", Map.class, String.class);
            Handle.invoke(byGroup, producer, call.offsets(), Driver.consumer(member).group);
            return;
        }
        Object group = Driver.inThreadOf(member, () -> Handle.invoke(metadata, Driver.consumer(member).consumer));
        Method byMember = Handle.method(
            KafkaProducer.class, "sendOffsetsToTransaction", Map.class, metadata.getReturnType());
        Handle.invoke(byMember, producer, call.offsets(), group);
    }

    private void close(long timeoutMs) throws Exception {
        Method inDuration = Handle.method(KafkaProducer.class, "close", Duration.class);
        if (inDuration != null) {
            Handle.invoke(inDuration, producer, Duration.ofMillis(timeoutMs));
            return;
        }
        // before KIP-367, in 2.2
        Method inUnits = Handle.method(KafkaProducer.class, "close", long.class, TimeUnit.class);
        Handle.invoke(inUnits, producer, timeoutMs, TimeUnit.MILLISECONDS);
    }
}
