package mockbroker;

import com.fasterxml.jackson.databind.JsonNode;

/** What a log has at an offset. */
public final class StoredRecord {
    private final int partition;
    private final long offset;
    private final String key;
    private final String value;
    private final long timestampMs;

    StoredRecord(JsonNode from) {
        partition = from.get("partition").asInt();
        offset = from.get("offset").asLong();
        key = from.get("key").textValue();
        value = from.get("value").textValue();
        timestampMs = from.get("timestamp_ms").asLong();
    }

    public int partition() {
        return partition;
    }

    public long offset() {
        return offset;
    }

    /** As text; base64 if it is none; or null. */
    public String key() {
        return key;
    }

    /** As text; base64 if it is none; or null. */
    public String value() {
        return value;
    }

    public long timestampMs() {
        return timestampMs;
    }

    @Override
    public String toString() {
        return "partition " + partition + ", offset " + offset + ": " + key + "=" + value;
    }
}
