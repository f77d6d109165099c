import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** What an AdminClient can do besides, in releases that can do all of it. */
final class AdminVerbs implements Handle {
    private final AdminClient admin;

    AdminVerbs(AdminClient admin) {
        this.admin = admin;
    }

    @Override
    public Map<String, ?> call(Call call) throws Exception {
        switch (call.verb) {
            case "delete-topic":
                await(call, admin.deleteTopics(List.of(call.text("topic"))).all());
                return Map.of();
            case "alter-config":
                var entry = new ConfigEntry(call.text("name"), call.text("to"));
                var set = List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET));
                await(call, admin.incrementalAlterConfigs(Map.of(topic(call), set)).all());
                return Map.of();
            case "describe-config":
                var found = await(call, admin.describeConfigs(List.of(topic(call))).all()).get(topic(call));
                return Map.of("value", found.get(call.text("name")).value());
            case "delete-records":
                var before = Map.of(partition(call), RecordsToDelete.beforeOffset(call.number("offset")));
                var deleted = admin.deleteRecords(before).lowWatermarks().get(partition(call));
                return Map.of("offset", await(call, deleted).lowWatermark());
            case "list-offsets":
                var spec = call.text("at").equals("earliest") ? OffsetSpec.earliest() : OffsetSpec.latest();
                var listed = admin.listOffsets(Map.of(partition(call), spec)).partitionResult(partition(call));
                return Map.of("offset", await(call, listed).offset());
            default:
                throw new UnsupportedException("an admin client has no verb " + call.verb);
        }
    }

    private static <T> T await(Call call, KafkaFuture<T> asked) throws Exception {
        return asked.get(call.number("timeout_ms"), TimeUnit.MILLISECONDS);
    }

    private static ConfigResource topic(Call call) {
        return new ConfigResource(ConfigResource.Type.TOPIC, call.text("topic"));
    }

    private static TopicPartition partition(Call call) {
        return new TopicPartition(call.text("topic"), (int) call.number("partition"));
    }
}
