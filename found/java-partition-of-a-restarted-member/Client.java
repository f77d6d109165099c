import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A static member restarts once it has joined again, before it polls and is told what to give up. */
public class Client {
    static KafkaConsumer<String, String> member(String id, String topic) {
        var made = new KafkaConsumer<>(Map.of("bootstrap.servers", System.getenv("BOOTSTRAP_SERVERS"), "group.id", "billing",
            "group.instance.id", id, "enable.auto.commit", false, "partition.assignment.strategy",
            CooperativeStickyAssignor.class.getName()), new StringDeserializer(), new StringDeserializer());
        made.subscribe(List.of(topic));
        return made;
    }

    static Thread polls(KafkaConsumer<?, ?> consumer, int times) {
        var polling = new Thread(() -> { for (int i = 0; i < times; i++) consumer.poll(Duration.ofMillis(50)); });
        polling.start();
        return polling;
    }

    public static void main(String[] arguments) throws Exception {
        var leader = member("leader", "returns");
        while (leader.assignment().isEmpty()) leader.poll(Duration.ofMillis(50));
        polls(leader, 10_000);
        var owner = member("owner", "orders");
        while (owner.assignment().size() < 2) owner.poll(Duration.ofMillis(50));
        var other = member("other", "orders");
        var polled = polls(other, 600);
        Thread.sleep(8_000);
        owner.poll(Duration.ZERO); // joins again
        Thread.sleep(3_000); // meanwhile the leader has told what each is to have
        owner.close();
        owner = member("owner", "orders");
        for (var each : List.of(polls(owner, 300), polled)) each.join();
        System.out.println("the owner has " + owner.assignment() + ", the other one " + other.assignment());
        System.exit(0);
    }
}
