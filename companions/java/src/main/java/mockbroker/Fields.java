package mockbroker;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.LinkedHashMap;
import java.util.Map;

/** Those fields of a request that were given: left out and null, or zero, are two things. */
abstract class Fields<T extends Fields<T>> {
    @JsonValue
    final Map<String, Object> given = new LinkedHashMap<>();

    @SuppressWarnings("unchecked")
    final T set(String name, Object value) {
        given.put(name, value);
        return (T) this;
    }

    @Override
    public String toString() {
        return given.toString();
    }
}
