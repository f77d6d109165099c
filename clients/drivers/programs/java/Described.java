import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.protocol.Errors;

/** What an exception says, as an error of docs/drivers.md. */
final class Described {
    /** After these "our only option is to close the producer and exit", says the documentation of KafkaProducer. */
    private static final Set<String> FATAL = Set.of(
        "ProducerFencedException", "OutOfOrderSequenceException", "AuthorizationException", "FencedInstanceIdException");
    /** The documentation of these classes says that the transaction has to be aborted. */
    private static final Set<String> ABORTABLE = Set.of("TransactionAbortableException", "InvalidProducerEpochException");

    static Map<String, Object> of(Throwable error) {
        Map<String, Object> described = new HashMap<>();
        if (error instanceof UnsupportedException) {
            described.put("name", "unsupported");
            described.put("message", error.getMessage());
            return described;
        }
        described.put("name", error.getClass().getSimpleName());
        StringBuilder message = new StringBuilder(String.valueOf(error.getMessage()));
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause())
            message.append("; caused by ").append(cause);
        described.put("message", message.toString());
        described.put("code", code(error));
        described.put("fatal", isOne(error, FATAL));
        described.put("retriable", error instanceof RetriableException);
        if (isOne(error, ABORTABLE)) described.put("abortable", true);
        described.put("deserializer", isCausedByDeserializer(error));
        return described;
    }

    private static Integer code(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            // The client's own timeouts are of the class that it has for the broker's error code 7.
            if (each instanceof TimeoutException) continue;
            Errors known = Errors.forException(each);
            if (known.code() > 0) return (int) known.code();
        }
        return null;
    }

    private static boolean isOne(Throwable error, Set<String> names) {
        for (Class<?> each = error.getClass(); each != null; each = each.getSuperclass())
            if (names.contains(each.getSimpleName())) return true;
        return false;
    }

    private static boolean isCausedByDeserializer(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause())
            if (each instanceof BadPayloadException) return true;
        return false;
    }

    private Described() {}
}

/** A verb that the driver does not have. */
class UnsupportedException extends RuntimeException {
    UnsupportedException(String message) {
        super(message);
    }
}

/** What the deserializer throws for a value that it was told to refuse. */
class BadPayloadException extends RuntimeException {
    BadPayloadException(String message) {
        super(message);
    }
}
