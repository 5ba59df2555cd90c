package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;

/**
 * Tests that add, stop or kill controllers: one at a time. Each is in a class of its own, so that it waits for its turn
 * from the beginning, in front of those that must not run beside it.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Order(1)
@LockedPerTest(LockedPerTest.CONTROLLERS)
public @interface ChangesControllers {}
