package mockbroker;

import java.lang.reflect.AnnotatedElement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** What {@link MockBroker} brings; with {@code @ExtendWith} alone, clusters are of the newest release. */
public final class MockBrokerExtension implements ParameterResolver, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(MockBrokerExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == MockCluster.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        if (context.getTestMethod().isEmpty()) {
            throw new ParameterResolutionException(
                    "each test has a cluster of its own: take the MockCluster as a parameter of the test, or of a"
                            + " @BeforeEach or @AfterEach method, not of a constructor or a @BeforeAll method");
        }
        context.getRoot().getStore(NAMESPACE).getOrComputeIfAbsent(Run.class, key -> new Run(), Run.class);
        Store store = context.getStore(NAMESPACE);
        MockCluster cluster = store.get(MockCluster.class, MockCluster.class);
        if (cluster == null) {
            cluster = start(context);
            store.put(MockCluster.class, cluster);
        }
        return cluster;
    }

    /** What the test itself found comes first. */
    @Override
    public void afterEach(ExtensionContext context) {
        MockCluster cluster = context.getStore(NAMESPACE).remove(MockCluster.class, MockCluster.class);
        if (cluster == null) {
            return;
        }
        Optional<Throwable> failure = context.getExecutionException();
        if (failure.isPresent()) {
            cluster.addHints(failure.get());
            cluster.drop();
        } else {
            cluster.close();
        }
    }

    private static MockCluster start(ExtensionContext context) {
        return MockCluster.start(nearest(context).map(MockBrokerExtension::options).orElseGet(ClusterOptions::new));
    }

    private static Optional<MockBroker> nearest(ExtensionContext context) {
        Optional<MockBroker> found = annotation(context.getRequiredTestMethod());
        Class<?> within = context.getRequiredTestClass();
        while (found.isEmpty() && within != null) {
            found = annotation(within);
            within = within.getEnclosingClass();
        }
        return found;
    }

    private static Optional<MockBroker> annotation(AnnotatedElement element) {
        return AnnotationSupport.findAnnotation(element, MockBroker.class);
    }

    private static ClusterOptions options(MockBroker given) {
        ClusterOptions options = new ClusterOptions()
                .brokers(given.brokers())
                .topics(topics(given.topics()))
                .config(pairs("config", given.config()))
                .policies(pairs("policies", given.policies()))
                .fixed(given.fixed())
                .clock(given.clock());
        if (!given.kafka().isEmpty()) {
            options.kafka(given.kafka());
        }
        if (given.seed().length > 1) {
            throw new MockBrokerException("seed has " + given.seed().length + " values: give one", "seed");
        }
        if (given.seed().length == 1) {
            options.seed(given.seed()[0]);
        }
        return options;
    }

    private static Map<String, Integer> topics(String[] given) {
        Map<String, Integer> topics = new LinkedHashMap<>();
        for (String each : given) {
            String[] parts = each.split(":", 2);
            try {
                topics.put(parts[0], parts.length == 1 ? 1 : Integer.parseInt(parts[1]));
            } catch (NumberFormatException error) {
                throw new MockBrokerException("topics has \"" + each + "\": write NAME or NAME:PARTITIONS, as in"
                        + " orders:6", "topics");
            }
        }
        return topics;
    }

    private static Map<String, String> pairs(String field, String[] given) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String each : given) {
            String[] parts = each.split("=", 2);
            if (parts.length == 1) {
                throw new MockBrokerException(field + " has \"" + each + "\": write NAME=VALUE", field);
            }
            pairs.put(parts[0], parts[1]);
        }
        return pairs;
    }

    /** A run of tests that wants clusters. JUnit closes it at the end: before 5.13 only what is a CloseableResource. */
    private static final class Run implements Store.CloseableResource, AutoCloseable {
        private Run() {
            ServeProcess.enter();
        }

        @Override
        public void close() {
            ServeProcess.leave();
        }
    }
}
