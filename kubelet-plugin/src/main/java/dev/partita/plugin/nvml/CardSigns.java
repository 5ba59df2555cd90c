package dev.partita.plugin.nvml;

import java.util.Set;

/**
 * What NVML says of a card's health. What it does not tell is as on a card that is well.
 *
 * @param dramErrors uncorrectable ECC errors of its device memory since it was last reset
 * @param sramErrors those of its caches and registers
 * @param rows whether faulty rows of its memory could be remapped
 * @param fabric how far the NVSwitch fabric is that it is part of
 * @param brakes why the hardware slows it down now
 * @param recovery what the driver asks to have done with it
 */
public record CardSigns(
    long dramErrors,
    long sramErrors,
    Rows rows,
    Fabric fabric,
    Set<Brake> brakes,
    Recovery recovery) {
  /** Those of a card that is well. */
  public static final CardSigns WELL = new CardSigns(0, 0, Rows.GOOD, Fabric.NONE, Set.of(), Recovery.NOT_TOLD);

  public CardSigns {
    brakes = Set.copyOf(brakes);
  }

  /** Whether faulty rows of the memory could be remapped. */
  public enum Rows {
    GOOD,
    /** One will be with the next reset. */
    PENDING,
    FAILED
  }

  /** How far the NVSwitch fabric is; the driver lets no CUDA program begin before it is completed. */
  public enum Fabric {
    /** The card is part of none. */
    NONE,
    NOT_STARTED,
    IN_PROGRESS,
    COMPLETED,
    /** It was completed with an error: without this card. */
    FAILED
  }

  /** Why the hardware slows a card down. */
  public enum Brake {
    /** It is too hot. */
    THERMAL,
    /** The machine's power supply asks for it. */
    POWER
  }

  /**
   * What the driver asks to have done before the card can be used in full again
   * (https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/error-recovery-and-response-flags.html).
   */
  public enum Recovery {
    /** It does not tell: NVML has this from driver 565 on. */
    NOT_TOLD,
    /** Nothing: new programs can use it. */
    NONE,
    /** End its programs and reset it. */
    RESET,
    /** End its programs and reset its PCIe bus. */
    BUS_RESET,
    /** Start the machine anew. */
    REBOOT,
    /** End the programs that reach memory of other cards; the driver then asks for something else. */
    DRAIN_P2P,
    /** Let its programs end, start none, and reset it then: until then it works, with less than it has. */
    DRAIN_AND_RESET,
    /** Something that this version does not know. */
    OTHER;

    /** Whether something is to be done. */
    public boolean isAsked() {
      return this != NOT_TOLD && this != NONE;
    }
  }
}
