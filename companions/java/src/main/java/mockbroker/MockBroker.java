package mockbroker;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Each test of the class, or this test, gets a cluster of its own if it, or a {@code @BeforeEach} or
 * {@code @AfterEach} method, has a parameter of the type {@link MockCluster}. The cluster is gone after the test,
 * which fails if a fault never fired that was added to it. That of a method takes the place of that of its class.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(MockBrokerExtension.class)
public @interface MockBroker {
    /** The release to act as, such as {@code 2.3}; if left out, the newest. */
    String kafka() default "";

    /** How many brokers. */
    int brokers() default 3;

    /** Topics that are there from the start: {@code orders} with one partition, {@code orders:6} with six. */
    String[] topics() default {};

    /** Configuration of all brokers: {@code num.partitions=3}. */
    String[] config() default {};

    /** Answers of behaviours: {@code undefined-epoch=log-end-offset}. */
    String[] policies() default {};

    /** Whether every fix is applied that was made or proposed. */
    boolean fixed() default false;

    /** What moves the cluster's time: {@code wall}, or {@code manual} for {@link MockCluster#advanceClock}. */
    String clock() default "wall";

    /** The same seed gives the same ids. At most one. */
    long[] seed() default {};
}
