package mockbroker;

import com.fasterxml.jackson.databind.JsonNode;

/** An offset that a group has committed. */
public final class CommittedOffset {
    private final String topic;
    private final int partition;
    private final long offset;
    private final String metadata;

    CommittedOffset(JsonNode from) {
        topic = from.get("topic").asText();
        partition = from.get("partition").asInt();
        offset = from.get("offset").asLong();
        metadata = from.get("metadata").asText();
    }

    public String topic() {
        return topic;
    }

    public int partition() {
        return partition;
    }

    public long offset() {
        return offset;
    }

    public String metadata() {
        return metadata;
    }

    @Override
    public String toString() {
        return topic + "-" + partition + ": " + offset;
    }
}
