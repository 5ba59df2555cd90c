package dev.partita.plugin.mig;

import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.PatientCalls;
import java.time.Duration;
import java.util.List;

/**
 * Asks the driver for MIG instances, and does not wait for it without end: claims that need no instance must be
 * prepared and released all the same. What a late call has changed is seen at the next look at the card.
 */
public final class PatientMigControl implements MigControl, AutoCloseable {
  /** A card takes seconds to change its mode; kubelet gives a call 45 s. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final MigControl driver;
  private final PatientCalls calls;

  public PatientMigControl(MigControl driver) {
    this(driver, PATIENCE);
  }

  PatientMigControl(MigControl driver, Duration patience) {
    this.driver = driver;
    this.calls = new PatientCalls("mig", patience);
  }

  @Override
  public MigState mig(String card) throws NvmlException {
    return calls.within("reading MIG instances", () -> driver.mig(card));
  }

  @Override
  public List<CardUser> users(String card) throws NvmlException {
    return calls.within("listing a card's processes", () -> driver.users(card));
  }

  @Override
  public void switchMig(String card, boolean on) throws NvmlException {
    calls.change("switching the MIG mode", () -> driver.switchMig(card, on));
  }

  @Override
  public void makeInstance(String card, String profile, int start) throws NvmlException {
    calls.change("making a MIG instance", () -> driver.makeInstance(card, profile, start));
  }

  @Override
  public void endInstance(String card, int gpuInstance) throws NvmlException {
    calls.change("ending a MIG instance", () -> driver.endInstance(card, gpuInstance));
  }

  @Override
  public void close() {
    calls.close();
  }
}
