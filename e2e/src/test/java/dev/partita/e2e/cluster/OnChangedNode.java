package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;

/** Tests that change the cards or the driver of {@link RealCluster#changedNode}: one at a time. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Order(2)
@LockedPerTest(LockedPerTest.CHANGED_NODE)
public @interface OnChangedNode {}
