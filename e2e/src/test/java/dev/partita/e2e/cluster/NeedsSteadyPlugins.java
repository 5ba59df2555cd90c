package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.parallel.ResourceAccessMode;

/** Tests that have a token of a plugin, or look whether one was started again: never beside {@link ChangesPlugins}. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@LockedPerTest(value = LockedPerTest.PLUGINS, mode = ResourceAccessMode.READ)
public @interface NeedsSteadyPlugins {}
