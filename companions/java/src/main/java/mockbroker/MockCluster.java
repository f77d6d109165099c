package mockbroker;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * A Kafka cluster of a test's own. {@link MockBroker} gives one to each test; what does not run with JUnit Jupiter
 * calls {@link #start}, and closes it. Methods throw MockBrokerException for what can't be done.
 */
public final class MockCluster extends Verbs implements AutoCloseable {
    private final HttpURLConnection lease;
    private final JsonNode where;
    private final List<AddedFault> faults = new CopyOnWriteArrayList<>();
    private boolean closed;

    private MockCluster(HttpURLConnection lease, JsonNode where) {
        this.lease = lease;
        this.where = where;
    }

    /** One of the newest release, with three brokers. */
    public static MockCluster start() {
        return start(new ClusterOptions());
    }

    /** It is there until it is closed, or this JVM ends. */
    public static MockCluster start(ClusterOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(Map.of("trace", "requests"));
        given.putAll(options.given);
        HttpURLConnection lease = Requests.open(ServeProcess.controlUrl() + "/clusters", given);
        try {
            // It stays open: the cluster is there for as long as the connection is.
            InputStreamReader lines = new InputStreamReader(lease.getInputStream(), StandardCharsets.UTF_8);
            String line = new BufferedReader(lines).readLine();
            if (line == null) {
                throw new MockBrokerException("mockbroker has ended");
            }
            return new MockCluster(lease, Requests.read(line));
        } catch (IOException error) {
            throw new MockBrokerException("mockbroker has ended: " + error.getMessage(), error);
        }
    }

    /** Its number within the process. */
    public String id() {
        return where.get("id").asText();
    }

    /** What clients are given as {@code bootstrap.servers}. */
    public String bootstrapServers() {
        return where.get("bootstrap_servers").asText();
    }

    /** What clients are configured with: addresses, certificates, and the login of the first user. Add to it. */
    public Properties clientProperties() {
        return settings(Map.of());
    }

    /** The same, with another user's login. MockBrokerException if there is no such user. */
    public Properties clientProperties(String user) {
        return settings(Map.of("user", user));
    }

    /** The address of a control API for this cluster alone. */
    public String controlUrl() {
        return where.get("control_url").asText();
    }

    /** The release that is acted. */
    public String kafka() {
        return where.get("kafka").asText();
    }

    /** How many brokers there are. */
    public int brokers() {
        return where.get("brokers").asInt();
    }

    /** The id that clients are told. */
    public String clusterId() {
        return where.get("cluster_id").asText();
    }

    /** Lets something go wrong from now on. The test fails if that never happens, unless the fault is optional. */
    public AddedFault addFault(Fault fault) {
        AddedFault added = new AddedFault(this, ask("POST", "/faults", fault.given).get("name").asText());
        faults.add(added);
        return added;
    }

    /** What in the cluster may keep clients from going on. */
    public List<String> hints() {
        return list("/hints", JsonNode::asText);
    }

    /** All records of a topic that are stored, by partition and offset. MockBrokerException for more than 1,000. */
    public List<StoredRecord> records(String topic) {
        return list("/topics/" + Requests.encode(topic) + "/records", StoredRecord::new);
    }

    /** The offsets that a group has committed. */
    public List<CommittedOffset> committed(String group) {
        return list("/groups/" + Requests.encode(group) + "/committed", CommittedOffset::new);
    }

    /** The last requests and answers, and what happened in the cluster. */
    public List<JsonNode> trace() {
        return list("/trace", Function.identity());
    }

    /** Asks the control API of this cluster: for {@code GET} and {@code /groups/billing} it shows that group. */
    public JsonNode ask(String method, String path, Map<String, Object> values) {
        return Requests.ask(method, controlUrl() + path, values);
    }

    /** Ends the cluster. AssertionError, with hints, if a fault never fired that is not optional. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        try {
            faults.forEach(AddedFault::assertFired);
        } catch (AssertionError error) {
            addHints(error);
            throw error;
        } finally {
            drop();
        }
    }

    /** Ends the cluster, whatever its faults did. */
    public void drop() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            ask("DELETE", "", Map.of());
        } catch (MockBrokerException error) {
            // It is gone already.
        }
        lease.disconnect();
    }

    /** Has a failure tell what in the cluster kept clients from going on, and what happened last. */
    void addHints(Throwable failure) {
        try {
            hints().forEach(each -> failure.addSuppressed(new Hint(each)));
            List<String> last = list("/trace/last", JsonNode::asText);
            if (!last.isEmpty()) {
                failure.addSuppressed(new Hint("the last that happened:\n" + String.join("\n", last)));
            }
        } catch (MockBrokerException error) {
            failure.addSuppressed(error);
        }
    }

    @Override
    JsonNode act(String method, String path, Map<String, Object> options, Object... needed) {
        Map<String, Object> body = new LinkedHashMap<>(options);
        String filled = path;
        for (int i = 0; i < needed.length; i += 2) {
            String place = "{" + needed[i] + "}";
            if (path.contains(place)) {
                filled = filled.replace(place, Requests.encode(needed[i + 1]));
            } else {
                body.put((String) needed[i], needed[i + 1]);
            }
        }
        return ask(method, filled, body);
    }

    private Properties settings(Map<String, Object> whose) {
        Properties properties = new Properties();
        JsonNode found = ask("GET", "/clients/settings/java", whose);
        found.fieldNames().forEachRemaining(name -> properties.setProperty(name, found.get(name).asText()));
        return properties;
    }

    private <T> List<T> list(String path, Function<JsonNode, T> each) {
        JsonNode found = ask("GET", path, Map.of());
        return StreamSupport.stream(found.spliterator(), false).map(each).collect(Collectors.toList());
    }

    @Override
    public String toString() {
        return "cluster " + id() + " of Kafka " + kafka() + " at " + bootstrapServers();
    }

    private static final class Hint extends Exception {
        private static final long serialVersionUID = 1;

        private Hint(String message) {
            super(message, null, false, false);
        }

        @Override
        public String toString() {
            return "mockbroker: " + getMessage();
        }
    }
}
