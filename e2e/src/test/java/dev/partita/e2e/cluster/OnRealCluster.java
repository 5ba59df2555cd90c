package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests that need the cluster: they are handed a {@link RealCluster} and a {@link Workspace} of their own as
 * parameters, and are skipped, with the reason, where no cluster can be had.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RealClusterExtension.class)
public @interface OnRealCluster {}
