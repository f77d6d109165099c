import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * A request, which is answered from any thread: once, but for `produce`. `send` may throw because the transaction
 * has failed meanwhile (it asks TransactionManager.maybeAddPartition once it has appended the record), and the
 * callback is called later.
 */
final class Call {
    final String verb, handle;
    private final JsonObject request;
    private final Lines lines;

    Call(Lines lines, JsonObject request) {
        this.lines = lines;
        this.request = request;
        verb = request.get("do").getAsString();
        handle = has("handle") ? text("handle") : "";
    }

    /** Says that it begins, if it has a timeout: `produce`, of those before it, may have blocked. */
    void begins() {
        if (has("timeout_ms")) lines.write(Map.of("event", "begins", "id", request.get("id")));
    }

    void answer(Map<String, ?> result) {
        write("ok", result);
    }

    /** With `raised` the call itself threw it. */
    void fail(Throwable error, boolean raised) {
        Map<String, Object> described = Described.of(error);
        described.put("raised", raised);
        write("error", described);
    }

    private void write(String outcome, Map<String, ?> value) {
        lines.write(Map.of("id", request.get("id"), outcome, value));
    }

    /** Whether the request has a field, and it is not null. */
    boolean has(String name) {
        return request.has(name) && !request.get(name).isJsonNull();
    }

    boolean isFalse(String name) {
        return has(name) && !request.get(name).getAsBoolean();
    }

    String text(String name) {
        return request.get(name).getAsString();
    }

    long number(String name) {
        return request.get(name).getAsLong();
    }

    byte[] bytes(String name) {
        return has(name) ? Base64.getDecoder().decode(text(name)) : null;
    }

    List<String> texts(String name) {
        List<String> read = new ArrayList<>();
        request.getAsJsonArray(name).forEach(each -> read.add(each.getAsString()));
        return read;
    }

    List<Header> headers() {
        List<Header> read = new ArrayList<>();
        if (!has("headers")) return read;
        for (JsonElement each : request.getAsJsonArray("headers")) {
            JsonElement value = each.getAsJsonArray().get(1);
            byte[] bytes = value.isJsonNull() ? null : Base64.getDecoder().decode(value.getAsString());
            read.add(new RecordHeader(each.getAsJsonArray().get(0).getAsString(), bytes));
        }
        return read;
    }

    Map<String, Object> config() throws IOException {
        Map<String, Object> config = new HashMap<>();
        for (Map.Entry<String, JsonElement> each : request.getAsJsonObject("config").entrySet())
            config.put(each.getKey(), each.getValue().getAsString());
        Secured.translate(config);
        return config;
    }

    /** From a list of `[topic, partition]` or `[topic, partition, offset]`; without an offset it is null. */
    Map<TopicPartition, Long> partitions(String name) {
        Map<TopicPartition, Long> read = new LinkedHashMap<>();
        for (JsonElement each : request.getAsJsonArray(name)) {
            JsonArray row = each.getAsJsonArray();
            Long offset = row.size() < 3 ? null : Long.valueOf(row.get(2).getAsLong());
            read.put(partition(row), offset);
        }
        return read;
    }

    /** From a list of `[topic, partition, offset]`, or with a leader epoch. */
    Map<TopicPartition, OffsetAndMetadata> offsets() {
        Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>();
        for (JsonElement each : request.getAsJsonArray("offsets")) {
            JsonArray row = each.getAsJsonArray();
            Optional<Integer> epoch = row.size() < 4 ? Optional.empty() : Optional.of(row.get(3).getAsInt());
            read.put(partition(row), new OffsetAndMetadata(row.get(2).getAsLong(), epoch, ""));
        }
        return read;
    }

    private static TopicPartition partition(JsonArray row) {
        return new TopicPartition(row.get(0).getAsString(), row.get(1).getAsInt());
    }
}
