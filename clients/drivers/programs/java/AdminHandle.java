import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;

/** An AdminClient. */
final class AdminHandle implements Handle {
    private final AdminClient admin;

    AdminHandle(Call call) throws IOException {
        admin = AdminClient.create(call.config());
    }

    @Override
    public Map<String, ?> call(Call call) throws Exception {
        switch (call.verb) {
            case "create-topic":
                var topic = new NewTopic(
                    call.text("topic"), (int) call.number("partitions"), (short) call.number("replication_factor"));
                admin.createTopics(List.of(topic)).all().get(call.number("timeout_ms"), TimeUnit.MILLISECONDS);
                return Map.of();
            case "create-partitions":
                var partitions = NewPartitions.increaseTo((int) call.number("partitions"));
                admin.createPartitions(Map.of(call.text("topic"), partitions)).all()
                    .get(call.number("timeout_ms"), TimeUnit.MILLISECONDS);
                return Map.of();
            case "close":
                admin.close();
                return Map.of();
            default:
                throw new UnsupportedException("an admin client has no verb " + call.verb);
        }
    }
}
