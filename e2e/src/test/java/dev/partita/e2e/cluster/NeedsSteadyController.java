package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.parallel.ResourceAccessMode;

/**
 * Tests of what two controllers that both believe that they lead may get wrong (quotas, gangs, preemption), of what API
 * servers do without while none answers (admission), or of what a controller tells (events of what it has done,
 * explanations, metrics): never beside {@link ChangesControllers}.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@LockedPerTest(value = LockedPerTest.CONTROLLERS, mode = ResourceAccessMode.READ)
public @interface NeedsSteadyController {}
