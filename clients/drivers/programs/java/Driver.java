import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/** The Java client, releases from 2.1 on. Each handle has a thread, which makes its calls one after the other. */
public final class Driver {
    private static final Map<String, Handle> HANDLES = new ConcurrentHashMap<>();
    private static final Map<String, ExecutorService> THREADS = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        Lines lines = new Lines();
        lines.hello("kafka-clients " + version(), capabilities());
        for (JsonObject request = lines.read(); request != null; request = lines.read()) {
            Call call = new Call(lines, request);
            ExecutorService thread = THREADS.computeIfAbsent(
                call.handle, name -> Executors.newSingleThreadExecutor(runnable -> new Thread(runnable, name)));
            thread.execute(() -> make(call, lines));
            if (call.verb.equals("close")) {
                THREADS.remove(call.handle);
                thread.shutdown();
            }
        }
        Runtime.getRuntime().halt(0); // whatever the client's threads do
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
            "groups", "assign", "group-assign", "transactions", "send-offsets", "idempotence", "deserializer", "headers"));
        try {
            ConsumerConfig.class.getField("GROUP_PROTOCOL_CONFIG");
            capabilities.add("consumer-protocol");
        } catch (NoSuchFieldException error) {
            // a release before 3.7
        }
        return capabilities;
    }

    private static void make(Call call, Lines lines) {
        try {
            if (call.verb.equals("open")) {
                boolean produces = call.text("kind").equals("producer");
                HANDLES.put(call.handle, produces ? new ProducerHandle(call) : new ConsumerHandle(call, lines));
                call.answer(Map.of());
                return;
            }
            boolean closes = call.verb.equals("close");
            Handle handle = closes ? HANDLES.remove(call.handle) : HANDLES.get(call.handle);
            if (handle == null) throw new UnsupportedException("nothing is open that is called " + call.handle);
            Map<String, ?> result = handle.call(call);
            if (result != null) call.answer(result);
        } catch (Throwable error) {
            call.fail(error, true);
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
