package dev.partita.controller;

import dev.partita.controller.inventory.DeviceTaintRule;
import org.jspecify.annotations.Nullable;

/** Makes DeviceTaintRules for tests: of every device and with the effect NoSchedule, where nothing else is said. */
public final class TaintRuleBuilder {
  private final String name;
  private @Nullable String driver;
  private @Nullable String pool;
  private @Nullable String device;
  private String effect = "NoSchedule";

  public TaintRuleBuilder(String name) {
    this.name = name;
  }

  public TaintRuleBuilder driver(String its) {
    driver = its;
    return this;
  }

  public TaintRuleBuilder pool(String its) {
    pool = its;
    return this;
  }

  public TaintRuleBuilder device(String its) {
    device = its;
    return this;
  }

  public TaintRuleBuilder effect(String its) {
    effect = its;
    return this;
  }

  public DeviceTaintRule taint(String key, @Nullable String value) {
    DeviceTaintRule rule = new DeviceTaintRule();
    rule.getMetadata().setName(name);
    rule.setSpec(
        new DeviceTaintRule.Spec(
            driver == null && pool == null && device == null
                ? null
                : new DeviceTaintRule.Selector(driver, pool, device),
            new DeviceTaintRule.Taint(key, value, effect)));
    return rule;
  }
}
