package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;

/** Tests that replace the plugins of all nodes, {@link RealCluster#quietNodes} as well: one at a time. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Order(0)
@LockedPerTest(LockedPerTest.PLUGINS)
public @interface ChangesPlugins {}
