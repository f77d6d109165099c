package mockbroker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MockBrokerTest {
    private static String url;

    /** One process for all that is played here: without this, each would end its own. */
    @BeforeAll
    static void enter() {
        ServeProcess.enter();
    }

    @MockBroker(kafka = "3.9", brokers = 2, topics = {"orders:3", "bills"}, config = "compression.type=gzip", seed = 7)
    static class WithOptions {
        @Test
        void test(MockCluster cluster) {
            url = cluster.controlUrl();
            cluster.produce("orders", "order 1", new ProduceOptions().key("a").partition(2));
            cluster.produce("bills", null);
            StoredRecord order = cluster.records("orders").get(0);
            assertEquals("partition 2, offset 0: a=order 1", order.toString());
            assertNull(cluster.records("bills").get(0).value());
            assertEquals("3.9 2", cluster.kafka() + " " + cluster.brokers());
            assertEquals(2, cluster.bootstrapServers().split(",").length);
            assertEquals(2, cluster.stopBroker(2).get("id").asInt());
        }

        @Test
        void another(MockCluster cluster) {
            assertEquals(List.of(), cluster.records("orders"));
        }
    }

    @Test
    void eachTestHasAClusterThatIsGoneAfterIt() {
        Played.of(WithOptions.class).succeeded(2);
        MockBrokerException gone =
                assertThrows(MockBrokerException.class, () -> Requests.ask("GET", url + "/hints", Map.of()));
        assertTrue(gone.getMessage().contains("a cluster is gone"), gone::getMessage);
    }

    @MockBroker(brokers = 1)
    static class NeverFired {
        @Test
        void added(MockCluster cluster) {
            cluster.addFault(Fault.of("disconnect").api("Produce").nth(3));
        }

        @Test
        void removed(MockCluster cluster) {
            cluster.addFault(Fault.of("disconnect").api("Produce", "Fetch").name("lost")).remove();
        }

        @Test
        void beforeEverything(MockCluster cluster) {
            cluster.addFault(Fault.of("disconnect").api("Fetch").version(4, 5).name("early"));
        }
    }

    @MockBroker(brokers = 1)
    static class Optional {
        @Test
        void test(MockCluster cluster) {
            cluster.addFault(Fault.of("disconnect").api("Produce").optional(true));
        }
    }

    @Test
    void aFaultThatNeverFiredFailsTheTest() {
        Played.of(NeverFired.class)
                .failed("fault 1 never fired: no client sent anything", "fault lost never", "fault early never")
                .forEach(each -> assertSame(AssertionError.class, each.getClass()));
        Played.of(Optional.class).succeeded(1);
    }

    @MockBroker
    static class Failing {
        @Test
        void test(MockCluster cluster) {
            cluster.addFault(Fault.of("disconnect").api("Produce"));
            cluster.createTopic("orders");
            cluster.closeListener(1, "PLAINTEXT");
            throw new IllegalStateException("one order is missing");
        }
    }

    @Test
    void whatTheTestFoundComesFirstAndHintsWithIt() {
        Throwable failure = Played.of(Failing.class).failed("one order is missing").get(0);
        assertSame(IllegalStateException.class, failure.getClass());
        String hints = List.of(failure.getSuppressed()).toString();
        assertTrue(hints.contains("mockbroker: the listener PLAINTEXT of broker 1 is closed"), hints);
        assertTrue(hints.contains("mockbroker: the last that happened:\n"), hints);
        assertTrue(hints.contains(" orders-0: "), hints);
        assertTrue(!hints.contains("never fired"), hints);
    }

    @MockBroker(brokers = 1)
    static class Shared {
        private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();
        private String mine;

        @BeforeEach
        void before(MockCluster cluster) {
            mine = cluster.id();
            assertTrue(SEEN.add(mine));
        }

        @AfterEach
        void after(MockCluster cluster) {
            assertEquals(mine, cluster.id());
        }

        @ParameterizedTest
        @ValueSource(strings = {"orders", "bills"})
        void isThatOfTheMethodsAroundIt(String topic, MockCluster cluster) {
            cluster.createTopic(topic, new CreateTopicOptions().partitions(2));
            assertEquals(mine, cluster.id());
        }

        @Test
        @MockBroker(brokers = 2)
        void hasTheOptionsOfItsMethod(MockCluster cluster) {
            assertEquals(2, cluster.brokers());
        }

        @Nested
        class Within {
            @Test
            void hasTheOptionsOfTheClassAround(MockCluster cluster) {
                assertEquals(1, cluster.brokers());
            }
        }
    }

    static class Heir extends Optional {}

    @ExtendWith(MockBrokerExtension.class)
    static class OnlyExtended {
        @Test
        void test(MockCluster cluster) {
            assertEquals(3, cluster.brokers());
        }
    }

    @Test
    void itIsSharedWithinATestAndTheNearestAnnotationCounts() {
        Played.of(Shared.class).succeeded(4);
        assertEquals(4, Shared.SEEN.size());
        Played.of(Heir.class).succeeded(1);
        Played.of(OnlyExtended.class).succeeded(1);
    }

    static class Mistaken {
        @Test
        @MockBroker(policies = "undefined-epok=undefined")
        void policy(MockCluster cluster) {}

        @Test
        @MockBroker(kafka = "12")
        void release(MockCluster cluster) {}

        @Test
        @MockBroker(topics = "orders:six")
        void topics(MockCluster cluster) {}

        @Test
        @MockBroker(config = "num.partitions")
        void config(MockCluster cluster) {}

        @Test
        @MockBroker(seed = {1, 2})
        void seed(MockCluster cluster) {}

        @Test
        @MockBroker(brokers = 1)
        void broker(MockCluster cluster) {
            cluster.stopBroker(9);
        }
    }

    @MockBroker
    static class NotOfATest {
        NotOfATest(MockCluster cluster) {}

        @Test
        void test() {}
    }

    @Test
    void mistakesAreToldInTheWordsOfMockbroker() {
        Played.of(Mistaken.class)
                .failed(
                        "did you mean 'undefined-epoch'",
                        "no Kafka release '12'",
                        "topics has \"orders:six\": write NAME",
                        "config has \"num.partitions\": write NAME=VALUE",
                        "seed has 2 values",
                        "no broker 9: choose one of 1")
                .forEach(each -> assertEquals(0, each.getSuppressed().length));
        Played.of(NotOfATest.class).failed("each test has a cluster of its own");
    }

    @Test
    void withoutJUnitItIsClosedByHand() {
        assertThrows(AssertionError.class, () -> with(each -> each.addFault(Fault.of("disconnect").api("Produce"))));
        with(cluster -> {
            AddedFault named = cluster.addFault(Fault.of("error").error("NOT_LEADER_OR_FOLLOWER").optional(true));
            named.pause();
            named.release();
            assertEquals(0, named.hits());
            assertThrows(MockBrokerException.class, () -> named.awaitHits(1, Duration.ofMillis(10)));
            assertEquals(0, cluster.ask("GET", "/faults/all", Map.of()).get("hits").asInt());
            assertThrows(MockBrokerException.class, () -> cluster.addFault(Fault.of("disconect")));
            cluster.advanceClock("7d");
            cluster.alterOffset("billing/eu", "orders", 0, 1);
            assertEquals("[orders-0: 1]", cluster.committed("billing/eu").toString());
        });
    }

    private static void with(Consumer<MockCluster> test) {
        ClusterOptions options = new ClusterOptions().brokers(1).topics(Map.of("orders", 1)).clock("manual");
        options.faults(Fault.of("watch").name("all"));
        try (MockCluster cluster = MockCluster.start(options)) {
            test.accept(cluster);
        }
    }

    @Test
    void clientsAreToldTheirLogin() {
        Map<String, Object> security = Map.of("sasl", "plain", "users", Map.of("alice", "secret", "bob", "hidden"));
        try (MockCluster cluster = MockCluster.start(new ClusterOptions().brokers(1).security(security))) {
            Properties properties = cluster.clientProperties("bob");
            assertEquals(cluster.bootstrapServers(), properties.getProperty("bootstrap.servers"));
            assertEquals("SASL_PLAINTEXT", properties.getProperty("security.protocol"));
            assertTrue(properties.getProperty("sasl.jaas.config").contains("hidden"), properties::toString);
            assertThrows(MockBrokerException.class, () -> cluster.clientProperties("carol"));
        }
    }

    @MockBroker(brokers = 1, topics = "orders")
    static class AtOnce {
        private static final Set<String> THREADS = ConcurrentHashMap.newKeySet();

        @RepeatedTest(10)
        void test(MockCluster cluster) {
            THREADS.add(Thread.currentThread().getName());
            cluster.produce("orders", cluster.id());
            List<StoredRecord> found = cluster.records("orders");
            assertEquals(1, found.size());
            assertEquals(cluster.id(), found.get(0).value());
        }
    }

    @Test
    void manyClustersAtOnce() {
        Map<String, String> parallel = Map.of(
                "junit.jupiter.execution.parallel.enabled", "true",
                "junit.jupiter.execution.parallel.mode.default", "concurrent",
                "junit.jupiter.execution.parallel.config.strategy", "fixed",
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "4");
        Played.of(AtOnce.class, parallel).succeeded(10);
        assertNotEquals(1, AtOnce.THREADS.size());
    }
}
