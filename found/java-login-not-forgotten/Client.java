import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.*;

/** A producer begins while its password is wrong; then it becomes right. */
public class Client {
    public static void main(String[] arguments) throws Exception {
        var admin = Admin.create(settings("PLAIN", "plain.Plain", "bob", "other"));
        var alice = settings("SCRAM-SHA-256", "scram.Scram", "alice", "secret");
        setPassword(admin, "another");
        var producer = new KafkaProducer<String, String>(alice);
        send("wrong password", producer);
        setPassword(admin, "secret");
        send("right password, another producer", new KafkaProducer<>(alice));
        send("right password", producer);
    }

    static void setPassword(Admin admin, String password) throws Exception {
        var scram = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
        admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion("alice", scram, password))).all().get();
    }

    static Map<String, Object> settings(String mechanism, String module, String user, String password) {
        String login = "org.apache.kafka.common.security.%sLoginModule required username=%s password=%s;";
        String text = "org.apache.kafka.common.serialization.StringSerializer";
        return Map.of(
            "bootstrap.servers", System.getenv("BOOTSTRAP_SERVERS"), "security.protocol", "SASL_PLAINTEXT",
            "sasl.mechanism", mechanism, "sasl.jaas.config", login.formatted(module, user, password),
            "key.serializer", text, "value.serializer", text, "delivery.timeout.ms", 2000, "request.timeout.ms", 1500);
    }

    static void send(String when, KafkaProducer<String, String> producer) throws InterruptedException {
        try {
            System.out.println(when + ": at offset " + producer.send(new ProducerRecord<>("orders", "1")).get().offset());
        } catch (java.util.concurrent.ExecutionException error) {
            System.out.println(when + ": " + error.getCause().getClass().getSimpleName());
        }
    }
}
