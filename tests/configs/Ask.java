import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/** Whether a broker accepts its configuration: a folder of properties files, of which each is answered with a line. */
public final class Ask {
    public static void main(String[] args) throws Exception {
        for (int each = 0; Files.exists(Path.of(args[0], each + ".properties")); each++) {
            Properties asked = new Properties();
            try (var file = Files.newBufferedReader(Path.of(args[0], each + ".properties"))) {
                asked.load(file);
            }
            System.out.println("answer " + answer(asked));
        }
    }

    private static String answer(Properties asked) {
        try {
            kafka.server.KafkaConfig.fromProps(asked, false);
            return "";
        } catch (IllegalArgumentException refused) {
            return refused.getMessage().replace("requirement failed: ", "");
        }
    }
}
