import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;

/** An AdminClient. */
final class AdminHandle implements Handle {
    /** Null in releases that can't do all that it does. */
    private static final Class<?> MORE = more();

    private final AdminClient admin;
    private final Handle more;

    AdminHandle(Call call) throws Exception {
        admin = AdminClient.create(call.config());
        more = MORE == null ? null : (Handle) MORE.getDeclaredConstructor(AdminClient.class).newInstance(admin);
    }

    /** The verbs that not all releases have. */
    static List<String> moreVerbs() {
        return MORE == null ? List.of() : List.of("delete-topic", "alter-config", "describe-config", "delete-records", "list-offsets");
    }

    private static Class<?> more() {
        try {
            return Class.forName("AdminVerbs");
        } catch (ClassNotFoundException error) {
            return null;
        }
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
                if (more == null) throw new UnsupportedException("an admin client has no verb " + call.verb);
                return more.call(call);
        }
    }
}
