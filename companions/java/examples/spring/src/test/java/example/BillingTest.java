package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import mockbroker.AddedFault;
import mockbroker.ClusterOptions;
import mockbroker.Fault;
import mockbroker.MockCluster;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistrar;

/** The application as it is, with a cluster in place of the one that its properties name. */
@SpringBootTest
class BillingTest {
    @TestConfiguration
    static class Brokers {
        @Bean
        MockCluster cluster() {
            return MockCluster.start(new ClusterOptions().kafka("3.9").topics(Map.of("orders", 1)));
        }

        /** Where the context asks for the property, the cluster is there. */
        @Bean
        DynamicPropertyRegistrar address(MockCluster cluster) {
            return properties -> properties.add("spring.kafka.bootstrap-servers", cluster::bootstrapServers);
        }
    }

    @Autowired
    private MockCluster cluster;

    @Autowired
    private Billing billing;

    @Test
    void anOrderIsBilledOnceIfTheAnswerIsLost() throws Exception {
        AddedFault lost = cluster.addFault(Fault.of("disconnect").api("Produce").when("after").nth(1));
        billing.take("order 1");
        lost.assertFired();
        assertEquals("order 1", billing.billed.poll(30, TimeUnit.SECONDS));
        assertEquals(1, cluster.records("orders").size());
        assertNull(billing.billed.poll());
    }
}
