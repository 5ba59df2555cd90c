package dev.partita.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;

/** Tests that change what {@link RealCluster#settingsNode} offers, or who serves its cards: one at a time. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Order(2)
@LockedPerTest(LockedPerTest.SETTINGS_NODE)
public @interface OnSettingsNode {}
