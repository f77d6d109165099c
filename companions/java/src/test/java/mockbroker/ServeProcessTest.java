package mockbroker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServeProcessTest {
    @Test
    void anotherContractIsRefused() {
        refused("{\"contract\": 0, \"version\": \"9\"}", "too old for this package");
        refused("{\"contract\": 2, \"version\": \"9\"}", "too new for this package");
        refused("Listening ...", "not an answer of mockbroker: Listening");
    }

    private static void refused(String line, String words) {
        told(assertThrows(MockBrokerException.class, () -> ServeProcess.read(line)), words);
    }

    private static void told(MockBrokerException error, String words) {
        assertTrue(error.getMessage().contains(words), error::getMessage);
    }

    @Test
    void aProcessThatIsMissingOrDoesNotStartIsTold(@TempDir Path folder) throws Exception {
        String missing = folder.resolve("missing").toString();
        told(assertThrows(MockBrokerException.class, () -> ServeProcess.start(missing)), "pip install mockbroker");
        Path failing = Files.createFile(
                folder.resolve("mockbroker"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.writeString(failing, "#!/bin/sh\necho no port is free >&2\nexit 2\n");
        told(
                assertThrows(MockBrokerException.class, () -> ServeProcess.start(failing.toString())),
                "did not start: no port is free");
    }

    @MockBroker(brokers = 1)
    static class Run {
        private static String url;

        @Test
        void test(MockCluster cluster) {
            url = cluster.controlUrl();
        }
    }

    /** A program that runs tests, and goes on: it says whether anything serves, and then what serves. */
    static final class Program {
        public static void main(String[] arguments) throws Exception {
            Played.of(Run.class).succeeded(1);
            System.out.println(serves(Run.url));
            System.out.println(MockCluster.start(new ClusterOptions().brokers(1)).controlUrl());
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    @Test
    void nothingIsLeftOfARunOfTestsNorOfAJvmThatWasKilled() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process program = new ProcessBuilder(
                        java, "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                        Program.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String url;
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(program.getInputStream()))) {
            assertEquals("false", lines.readLine());
            url = lines.readLine();
            assertTrue(serves(url));
        } finally {
            program.destroyForcibly().waitFor();
        }
        await(() -> !serves(url));
    }

    private static boolean serves(String url) {
        try {
            Requests.ask("GET", url + "/hints", Map.of());
            return true;
        } catch (MockBrokerException error) {
            return false;
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, "mockbroker still serves");
            Thread.sleep(20);
        }
    }
}
