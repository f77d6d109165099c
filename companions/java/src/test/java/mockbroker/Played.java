package mockbroker;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Test classes that are run within a test. */
final class Played {
    private final EngineExecutionResults results;

    private Played(EngineExecutionResults results) {
        this.results = results;
    }

    static Played of(Class<?> tests) {
        return of(tests, Map.of());
    }

    static Played of(Class<?> tests, Map<String, String> settings) {
        return new Played(EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(tests))
                .configurationParameters(settings)
                .execute());
    }

    /** All tests succeeded. */
    void succeeded(long count) {
        results.testEvents().assertStatistics(events -> events.started(count).succeeded(count));
    }

    /** All tests failed, each with words of these. */
    List<Throwable> failed(String... words) {
        results.testEvents().assertStatistics(events -> events.started(words.length).failed(words.length));
        List<Throwable> failures = results.testEvents().failed().stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class).getThrowable().orElseThrow())
                .collect(Collectors.toList());
        for (String each : words) {
            assertTrue(failures.stream().anyMatch(failure -> failure.getMessage().contains(each)), failures::toString);
        }
        return failures;
    }
}
