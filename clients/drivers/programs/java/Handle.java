import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;

/** A client of the library under test. */
interface Handle {
    /** Makes a call, and returns its result; null if the call is answered later. */
    Map<String, ?> call(Call call) throws Exception;

    /** A method of the library, or null where this release has none. */
    static Method method(Class<?> owner, String name, Class<?>... parameters) {
        try {
            return owner.getMethod(name, parameters);
        } catch (NoSuchMethodException error) {
            return null;
        }
    }

    /** Calls a method that not all releases have. */
    static Object invoke(Method method, Object on, Object... arguments) throws Exception {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Exception) throw (Exception) error.getCause();
            throw error;
        }
    }
}
