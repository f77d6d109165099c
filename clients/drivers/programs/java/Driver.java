// Driver: java, of the package kafka-clients

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/** The Java client, releases from 2.1 on. Each handle has a thread, which makes its calls one after the other. */
public final class Driver {
    private static final Map<String, Handle> HANDLES = new ConcurrentHashMap<>();
    private static final Map<String, ThreadPoolExecutor> THREADS = new ConcurrentHashMap<>();
    private static final List<String> CODECS = List.of("gzip", "snappy", "lz4", "zstd");
    /** Null for a release without share consumers. */
    private static final Constructor<?> SHARES = shares();
    /** What ShareConsumerConfig refuses. */
    private static final Set<String> NOT_SHARED = Set.of(
        "auto.offset.reset", "enable.auto.commit", "group.instance.id", "isolation.level", "partition.assignment.strategy",
        "interceptor.classes", "session.timeout.ms", "heartbeat.interval.ms", "group.protocol", "group.remote.assignor");

    public static void main(String[] arguments) throws Exception {
        Lines lines = new Lines();
        lines.hello("kafka-clients " + version(), capabilities(), settings());
        for (JsonObject request = lines.read(); request != null; request = lines.read()) {
            Call call = new Call(lines, request);
            ThreadPoolExecutor thread = THREADS.computeIfAbsent(call.handle, Driver::thread);
            Runnable makes = () -> make(call, lines);
            // The calls that follow don't wait for one that is `at_once`.
            thread.execute(call.has("at_once") ? () -> new Thread(makes).start() : makes);
        }
        Runtime.getRuntime().halt(0); // whatever the client's threads do
    }

    private static ThreadPoolExecutor thread(String name) {
        return new ThreadPoolExecutor(
            1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), runnable -> new Thread(runnable, name));
    }

    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = ConsumerConfig.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(file);
        }
        return properties.getProperty("version");
    }

    private static List<String> capabilities() {
        var capabilities = new ArrayList<>(List.of(
            "groups", "assign", "group-assign", "transactions", "send-offsets", "idempotence", "deserializer", "headers", "null-headers",
            "admin", "pause", "patterns", "resubscribe", "at-once", "ends-at-once",
            "create-partitions", "seek", "offsets-for-times"));
        capabilities.addAll(AdminHandle.moreVerbs());
        for (String codec : CODECS) capabilities.add("compression.type=" + codec);
        ConsumerHandle.ASSIGNORS.forEach((name, of) -> {
            if (isThere("org.apache.kafka.clients.consumer." + of))
                capabilities.add("partition.assignment.strategy=" + name);
        });
        try {
            ConsumerConfig.class.getField("GROUP_PROTOCOL_CONFIG");
            capabilities.add("consumer-protocol");
        } catch (NoSuchFieldException error) {
            // a release before 3.7
        }
        if (SHARES != null) capabilities.addAll(List.of("share", "renew"));
        if (Secured.asksForTokens()) capabilities.add("oidc");
        return capabilities;
    }

    private static boolean isThere(String type) {
        try {
            return Class.forName(type) != null;
        } catch (ClassNotFoundException older) {
            return false;
        }
    }

    private static Map<String, Set<String>> settings() {
        Map<String, Set<String>> settings = new HashMap<>(Map.of(
            "producer", Secured.with(ProducerConfig.configNames()),
            "consumer", Secured.with(ConsumerConfig.configNames()),
            "admin", Secured.with(AdminClientConfig.configNames())));
        if (SHARES != null) {
            Set<String> shared = new HashSet<>(settings.get("consumer"));
            shared.removeAll(NOT_SHARED);
            settings.put("share-consumer", shared);
        }
        return settings;
    }

    /** Where it was built, since the release has share consumers. */
    private static Constructor<?> shares() {
        try {
            return Class.forName("ShareHandle").getDeclaredConstructor(Call.class, Lines.class);
        } catch (ReflectiveOperationException error) {
            return null;
        }
    }

    private static void make(Call call, Lines lines) {
        call.begins();
        try {
            if (call.verb.equals("open")) {
                HANDLES.put(call.handle, opened(call, lines));
                call.answer(Map.of());
                return;
            }
            boolean closes = call.verb.equals("close");
            Handle handle = HANDLES.get(call.handle);
            if (handle == null) throw new UnsupportedException("nothing is open that is called " + call.handle);
            Map<String, ?> result;
            try {
                result = handle.call(call);
            } finally { // not before: `close` may stop at an event
                if (closes) {
                    HANDLES.remove(call.handle);
                    THREADS.remove(call.handle).shutdown();
                }
            }
            if (result != null) call.answer(result);
        } catch (Throwable error) {
            call.fail(error, true);
        }
    }

    private static Handle opened(Call call, Lines lines) throws Exception {
        switch (call.text("kind")) {
            case "producer": return new ProducerHandle(call);
            case "consumer": return new ConsumerHandle(call, lines);
            case "admin": return new AdminHandle(call);
            case "share-consumer": return shared(call, lines);
            default: throw new UnsupportedException("there are no handles of kind " + call.text("kind"));
        }
    }

    private static Handle shared(Call call, Lines lines) throws Exception {
        if (SHARES == null) throw new UnsupportedException("this release has no share consumers");
        try {
            return (Handle) SHARES.newInstance(call, lines);
        } catch (InvocationTargetException error) {
            throw error.getCause() instanceof Exception ? (Exception) error.getCause() : error;
        }
    }

    /** Makes the next call of a handle, in its own thread. */
    static void next(String handle) {
        try {
            THREADS.get(handle).getQueue().take().run();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static ConsumerHandle consumer(String name) {
        return (ConsumerHandle) HANDLES.get(name);
    }

    /** Consumers may only be used by their own thread. */
    static <T> T inThreadOf(String handle, Callable<T> task) throws Exception {
        try {
            return THREADS.get(handle).submit(task).get();
        } catch (ExecutionException error) {
            if (error.getCause() instanceof Exception) throw (Exception) error.getCause();
            throw error;
        }
    }
}
