package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Every test of an annotated class takes the lock for itself. What JUnit's own annotation locks for a class stays
 * locked from the class's first test to its last, together with all that any of its tests locks, and they run one after
 * the other.
 */
@Target(ElementType.ANNOTATION_TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(LockedPerTest.Several.class)
@ResourceLock(providers = LockedPerTest.Locks.class)
public @interface LockedPerTest {
  /*
   * JUnit takes several locks of a test in the order of their names, and keeps the first while it waits for the next.
   * That for which most wait comes first, so that whoever waits for it holds up nobody else.
   */
  String CONTROLLERS = "1 the controllers";
  String BROKEN_NODE = "2 the broken node";
  String CHANGED_NODE = "2 the changed node";
  String OWN_NODE = "2 the node for one test";
  String SETTINGS_NODE = "2 the node of other settings";

  /** The name of the lock. */
  String value();

  /** Tests that only read run at once. */
  ResourceAccessMode mode() default ResourceAccessMode.READ_WRITE;

  /** What Java asks for where an annotation may stand more than once. */
  @Target(ElementType.ANNOTATION_TYPE)
  @Retention(RetentionPolicy.RUNTIME)
  @interface Several {
    LockedPerTest[] value();
  }

  /** The locks of a test by its own annotations and its class's. */
  final class Locks implements ResourceLocksProvider {
    @Override
    public Set<Lock> provideForMethod(List<Class<?>> enclosingTypes, Class<?> testClass, Method testMethod) {
      return Stream.of(testClass, testMethod)
          .flatMap(element -> AnnotationSupport.findRepeatableAnnotations(element, LockedPerTest.class).stream())
          .map(locked -> new Lock(locked.value(), locked.mode()))
          .collect(Collectors.toSet());
    }
  }
}
