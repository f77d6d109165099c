package mockbroker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** Requests to the control API. */
final class Requests {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Requests() {}

    /** The answer, as JSON. Values of a GET stand in its query. MockBrokerException. */
    static JsonNode ask(String method, String url, Map<String, Object> values) {
        boolean query = method.equals("GET");
        try {
            HttpURLConnection connection = connect(method, query ? url + query(values) : url);
            if (!query) {
                send(connection, values);
            }
            return read(text(connection));
        } catch (IOException error) {
            throw new MockBrokerException("mockbroker has ended: " + error.getMessage(), error);
        }
    }

    /** The answer to a POST that goes on, once its head has come. MockBrokerException. */
    static HttpURLConnection open(String url, Map<String, Object> values) {
        try {
            HttpURLConnection connection = connect("POST", url);
            send(connection, values);
            if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
                text(connection);
            }
            return connection;
        } catch (IOException error) {
            throw new MockBrokerException("mockbroker has ended: " + error.getMessage(), error);
        }
    }

    static JsonNode read(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException error) {
            throw new MockBrokerException("this is not an answer of mockbroker: " + text, error);
        }
    }

    static String encode(Object value) {
        return URLEncoder.encode(value.toString(), StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static HttpURLConnection connect(String method, String url) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection(Proxy.NO_PROXY);
        connection.setRequestMethod(method);
        // One that is kept may end just when the next request is sent.
        connection.setRequestProperty("Connection", "close");
        return connection;
    }

    private static void send(HttpURLConnection connection, Map<String, Object> values) throws IOException {
        byte[] body = JSON.writeValueAsBytes(values);
        connection.setRequestProperty("Content-Type", "application/json");
        connection.setDoOutput(true);
        // It is not sent twice then if the answer fails to come.
        connection.setFixedLengthStreamingMode(body.length);
        connection.getOutputStream().write(body);
    }

    private static String text(HttpURLConnection connection) throws IOException {
        boolean refused = connection.getResponseCode() >= HttpURLConnection.HTTP_BAD_REQUEST;
        try (InputStream stream = refused ? connection.getErrorStream() : connection.getInputStream()) {
            String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            if (refused) {
                throw refusal(text);
            }
            return text;
        }
    }

    private static MockBrokerException refusal(String text) {
        JsonNode refused = read(text);
        String field = refused.path("field").asText("");
        return new MockBrokerException(refused.path("error").asText(text), field.isEmpty() ? null : field);
    }

    private static String query(Map<String, Object> values) {
        return values.entrySet().stream()
                .map(each -> encode(each.getKey()) + "=" + encode(each.getValue()))
                .collect(Collectors.joining("&", "?", ""));
    }
}
