package mockbroker;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The {@code mockbroker serve} that lends clusters to all tests of this JVM. It ends when its stdin closes, which
 * happens when this JVM ends in any way.
 */
final class ServeProcess {
    /** The version of docs/process.md that this package follows. */
    private static final int CONTRACT = 1;
    private static final List<String> OPTIONS = List.of(
            "serve", "--brokers", "1", "--log", "json", "--port", "0", "--control", "0", "--until-stdin-closes");
    private static final int END_S = 30;

    private static ServeProcess shared;
    private static int runs;

    private final Process process;
    private final String controlUrl;

    private ServeProcess(Process process, String controlUrl) {
        this.process = process;
        this.controlUrl = controlUrl;
    }

    /** The address of the control API of the shared process, which is started if it is not there. */
    static synchronized String controlUrl() {
        if (shared == null || !shared.process.isAlive()) {
            String path = System.getenv("MOCKBROKER");
            shared = start(path == null || path.isEmpty() ? "mockbroker" : path);
        }
        return shared.controlUrl;
    }

    /** A run of tests begins, which may be within another. */
    static synchronized void enter() {
        runs++;
    }

    /** A run of tests has ended: what loaded this class may go on, so that the last run ends the process. */
    static synchronized void leave() {
        if (--runs == 0 && shared != null) {
            shared.end();
            shared = null;
        }
    }

    static ServeProcess start(String path) {
        Process process = spawn(path);
        try {
            return new ServeProcess(process, read(firstLine(process, path)));
        } catch (MockBrokerException error) {
            process.destroy();
            throw error;
        }
    }

    private static Process spawn(String path) {
        List<String> command = new ArrayList<>(List.of(path));
        command.addAll(OPTIONS);
        try {
            return new ProcessBuilder(command).start();
        } catch (IOException error) {
            throw new MockBrokerException(
                    path + " can't be started: install it with `pip install mockbroker`, or set MOCKBROKER to the path"
                            + " of its executable (" + error.getMessage() + ")",
                    error);
        }
    }

    private static String firstLine(Process process, String path) {
        StringWriter said = new StringWriter();
        Thread listening = drain(reader(process.getErrorStream()), said);
        BufferedReader lines = reader(process.getInputStream());
        try {
            String line = lines.readLine();
            if (line == null) {
                listening.join();
                throw new MockBrokerException(path + " did not start: " + said.toString().strip());
            }
            // The cluster stands still while the pipe is full and nobody reads it.
            drain(lines, Writer.nullWriter());
            return line;
        } catch (IOException error) {
            throw new MockBrokerException(path + " did not start: " + error.getMessage(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new MockBrokerException(path + " did not start in time", error);
        }
    }

    /** The address of the control API, by the first line. */
    static String read(String line) {
        JsonNode first = Requests.read(line);
        int contract = first.path("contract").asInt();
        String version = first.path("version").asText();
        if (contract < CONTRACT) {
            throw new MockBrokerException("mockbroker " + version + " is too old for this package: update it");
        }
        if (contract > CONTRACT) {
            throw new MockBrokerException("mockbroker " + version + " is too new for this package: update the package");
        }
        return first.path("control_url").asText();
    }

    private void end() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException error) {
            process.destroyForcibly();
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    private static BufferedReader reader(InputStream stream) {
        return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
    }

    private static Thread drain(Reader from, Writer into) {
        Thread thread = new Thread(() -> {
            try {
                from.transferTo(into);
            } catch (IOException error) {
                // The process has ended.
            }
        }, "mockbroker");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
