package mockbroker;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Map;

/** A fault that is in force. */
public final class AddedFault {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final MockCluster cluster;
    private final String name;
    private JsonNode last; // how it was when it was removed

    AddedFault(MockCluster cluster, String name) {
        this.cluster = cluster;
        this.name = name;
    }

    /** What it was called, or its number. */
    public String name() {
        return name;
    }

    /** How many requests it has acted on. */
    public int hits() {
        return shown().get("hits").asInt();
    }

    /** Returns once it has acted on so many requests. MockBrokerException if that takes more than ten seconds. */
    public void awaitHits(int hits) {
        awaitHits(hits, PATIENCE);
    }

    /** Returns once it has acted on so many requests. MockBrokerException if that takes longer. */
    public void awaitHits(int hits, Duration timeout) {
        ask("GET", "/wait", Map.of("hits", hits, "timeout", timeout.toMillis() / 1000.0));
    }

    /** Holds every request that matches it, until {@link #release}. */
    public void pause() {
        ask("POST", "/pause", Map.of());
    }

    /** Lets go of the requests that it holds, and holds none from now on. */
    public void release() {
        ask("POST", "/release", Map.of());
    }

    /** Takes it out of force. If it never fired by then, the test fails. */
    public void remove() {
        last = shown();
        ask("DELETE", "", Map.of());
    }

    /** AssertionError if it never fired, unless it is optional. */
    public void assertFired() {
        JsonNode shown = shown();
        if (shown.get("hits").asInt() == 0 && !shown.get("optional").asBoolean()) {
            throw new AssertionError("fault " + name + " never fired: " + shown.get("why").asText());
        }
    }

    private JsonNode shown() {
        return last == null ? ask("GET", "", Map.of()) : last;
    }

    private JsonNode ask(String method, String path, Map<String, Object> values) {
        return cluster.ask(method, "/faults/" + Requests.encode(name) + path, values);
    }
}
