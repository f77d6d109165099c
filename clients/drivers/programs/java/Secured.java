import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.SslConfigs;

/**
 * Logins and certificates by librdkafka's names, for which Kafka's client has none. It reads PEM from 2.7 on, keys
 * as PKCS #8. Its own names (sasl.jaas.config, ssl.keystore.location) are taken as they are.
 */
final class Secured {
    private static final String USER = "sasl.username", PASSWORD = "sasl.password";
    private static final String CLAIMS = "sasl.oauthbearer.config", UNSECURED = "enable.sasl.oauthbearer.unsecure.jwt";
    private static final String METHOD = "sasl.oauthbearer.method", ID = "sasl.oauthbearer.client.id";
    private static final String SECRET = "sasl.oauthbearer.client.secret", URL = "sasl.oauthbearer.token.endpoint.url";
    private static final String OAUTH = "org.apache.kafka.common.security.oauthbearer.";
    private static final String CA = "ssl.ca.location", CERTIFICATE = "ssl.certificate.location", KEY = "ssl.key.location";

    /** What asks an issuer for tokens, from 3.1 on (KIP-768); null if this client has no such thing. */
    private static final String HANDLER = handler();

    private static String handler() {
        for (String name : new String[] {OAUTH + "OAuthBearerLoginCallbackHandler", OAUTH + "secured.OAuthBearerLoginCallbackHandler"}) {
            try {
                return Class.forName(name).getName();
            } catch (ClassNotFoundException older) {
                // Older clients have it elsewhere.
            }
        }
        return null;
    }

    static boolean asksForTokens() {
        return HANDLER != null;
    }

    static Set<String> with(Set<String> settings) {
        Set<String> all = new HashSet<>(settings);
        all.addAll(Set.of(USER, PASSWORD, CLAIMS, UNSECURED, CA, CERTIFICATE, KEY));
        if (asksForTokens()) all.addAll(Set.of(METHOD, ID, SECRET, URL));
        return all;
    }

    static void translate(Map<String, Object> config) throws IOException {
        Object user = config.remove(USER), password = config.remove(PASSWORD);
        if (user != null) {
            String module = "PLAIN".equals(config.get("sasl.mechanism")) ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
            config.put("sasl.jaas.config", "org.apache.kafka.common.security." + module
                + " required username=" + quoted(user) + " password=" + quoted(password) + ";");
        }
        Object claims = config.remove(CLAIMS);
        config.remove(UNSECURED);
        if (claims != null) {
            String principal = ((String) claims).replaceAll(".*\\bprincipal=(\\S+).*", "$1");
            config.put("sasl.jaas.config", OAUTH + "OAuthBearerLoginModule required "
                + "unsecuredLoginStringClaim_sub=" + quoted(principal) + ";");
        }
        Object id = config.remove(ID), secret = config.remove(SECRET);
        if (config.remove(METHOD) != null) {
            config.put("sasl.jaas.config", OAUTH + "OAuthBearerLoginModule required "
                + "clientId=" + quoted(id) + " clientSecret=" + quoted(secret) + ";");
            config.put("sasl.login.callback.handler.class", HANDLER);
            // From 3.9.1 on, Kafka's client asks nobody whom it is not told of here.
            System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", String.valueOf(config.get(URL)));
        }
        read(config, CA, SslConfigs.SSL_TRUSTSTORE_TYPE_CONFIG, "ssl.truststore.certificates");
        read(config, CERTIFICATE, SslConfigs.SSL_KEYSTORE_TYPE_CONFIG, "ssl.keystore.certificate.chain");
        read(config, KEY, SslConfigs.SSL_KEYSTORE_TYPE_CONFIG, "ssl.keystore.key");
    }

    private static void read(Map<String, Object> config, String file, String type, String setting) throws IOException {
        Object path = config.remove(file);
        if (path == null) return;
        config.put(type, "PEM");
        config.put(setting, new String(Files.readAllBytes(Paths.get((String) path)), StandardCharsets.UTF_8));
    }

    /** As JAAS reads it. */
    private static String quoted(Object text) {
        return '"' + String.valueOf(text).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
