import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's command line tools one after the other, in one JVM.
 *
 * A line on stdin is a command, tab-separated: a main class and its arguments. Each line that the tool prints is a
 * line on stdout, "out" or "err" before it, and the last one is "exit" and the status.
 */
public final class Tools {
    private static final PrintStream TOLD = System.out;

    public static void main(String[] args) throws Exception {
        var out = new Lines("out ");
        var errors = new Lines("err ");
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null; ) {
            int status = statusOf(line.split("\t", -1));
            out.end();
            errors.end();
            tell("exit " + status);
        }
        Runtime.getRuntime().halt(0);
    }

    static int statusOf(String[] words) throws Exception {
        var status = new CompletableFuture<Integer>();
        Exit.setExitProcedure((code, message) -> {
            status.complete(code);
            while (true) LockSupport.park();  // like exit, it never returns
        });
        var thread = new Thread(() -> {
            try {
                Class.forName(words[0]).getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
                status.complete(0);
            } catch (Throwable e) {
                (e.getCause() == null ? e : e.getCause()).printStackTrace();
                status.complete(1);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return status.get();
    }

    static synchronized void tell(String line) {
        TOLD.print(line + "\n");
        TOLD.flush();
    }

    /** Passes whole lines on. */
    private static final class Lines extends ByteArrayOutputStream {
        private final String prefix;

        Lines(String prefix) {
            this.prefix = prefix;
        }

        @Override
        public synchronized void write(int b) {
            if (b == '\n') next();
            else super.write(b);
        }

        @Override
        public synchronized void write(byte[] b, int from, int length) {
            for (int i = from; i < from + length; i++) write(b[i]);
        }

        synchronized void end() {
            if (size() > 0) next();
        }

        private void next() {
            tell(prefix + toString(StandardCharsets.UTF_8));
            reset();
        }
    }
}
