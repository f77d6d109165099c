package example;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;

/** Takes orders, and bills them. */
@SpringBootApplication
public class Billing {
    final BlockingQueue<String> billed = new LinkedBlockingQueue<>();
    private final KafkaTemplate<String, String> orders;

    Billing(KafkaTemplate<String, String> orders) {
        this.orders = orders;
    }

    void take(String order) throws Exception {
        orders.send("orders", order).get();
    }

    @KafkaListener(topics = "orders", groupId = "billing", properties = "auto.offset.reset=earliest")
    void bill(String order) {
        billed.add(order);
    }

    public static void main(String[] arguments) {
        SpringApplication.run(Billing.class, arguments);
    }
}
