import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The two descriptors of docs/drivers.md, one JSON object a line. Any thread may write. */
final class Lines {
    private static final Gson GSON = new GsonBuilder().serializeNulls().create();

    private final BufferedReader requests;
    private final OutputStream answers;

    Lines() throws IOException {
        requests = new BufferedReader(
            new InputStreamReader(
                new FileInputStream("/dev/fd/" + System.getenv("MOCKBROKER_DRIVER_REQUESTS")),
                StandardCharsets.UTF_8));
        answers = new FileOutputStream("/dev/fd/" + System.getenv("MOCKBROKER_DRIVER_ANSWERS"));
    }

    /** The next request; null when they end. */
    JsonObject read() throws IOException {
        String line = requests.readLine();
        return line == null ? null : GSON.fromJson(line, JsonObject.class);
    }

    void hello(String client, List<String> capabilities, Map<String, Set<String>> settings) {
        write(Map.of(
            "event", "hello", "protocol", 2, "client", client, "capabilities", capabilities, "settings", settings,
            "stack", "SIGQUIT", "begins", true));
    }

    void event(String handle, String event, String name, Object value) {
        write(Map.of("event", event, "handle", handle, name, value));
    }

    void event(String handle, String event, String name, Object value, String other, Object itsValue) {
        write(Map.of("event", event, "handle", handle, name, value, other, itsValue));
    }

    void write(Map<String, ?> line) {
        byte[] text = (GSON.toJson(line) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (answers) {
            try {
                answers.write(text);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}
