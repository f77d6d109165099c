package mockbroker;

/** What mockbroker refuses, in its words, or why it can't be reached. */
public final class MockBrokerException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String field;

    MockBrokerException(String message) {
        this(message, (String) null);
    }

    MockBrokerException(String message, String field) {
        super(message);
        this.field = field;
    }

    MockBrokerException(String message, Throwable cause) {
        super(message, cause);
        field = null;
    }

    /** The argument that is wrong; null if it is not known. */
    public String field() {
        return field;
    }
}
