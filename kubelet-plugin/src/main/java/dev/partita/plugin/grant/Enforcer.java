package dev.partita.plugin.grant;

import dev.partita.api.gpu.MemoryEnforcement;

/**
 * Who holds containers to the memory that a claim gives them. It says what that takes: what the containers get, what
 * the plugin watches, and what the claim's status says. Which one it is goes by the card and by how it is
 * {@linkplain CardUse shared}, so that a card for which there is no hook library can have another enforcer.
 */
public sealed interface Enforcer {
  /** The hook library in the containers: it counts what goes through CUDA. */
  record Interception() implements Enforcer {
    @Override
    public String word() {
      return MemoryEnforcement.Interception.name();
    }

    @Override
    public boolean intercepts() {
      return true;
    }
  }

  /** The library, and besides it the driver, by a limit on the cgroup of each pod. */
  record Cgroup() implements Enforcer {
    @Override
    public String word() {
      return MemoryEnforcement.Driver.name();
    }

    @Override
    public boolean intercepts() {
      return true;
    }

    @Override
    public boolean limitsPods() {
      return true;
    }
  }

  /** The card, of which there is no more than the claim has. */
  record Card() implements Enforcer {
    @Override
    public String word() {
      return "Card";
    }
  }

  /** Nobody. */
  record None() implements Enforcer {
    @Override
    public String word() {
      return "None";
    }
  }

  /** Who holds the shares of a card of which its GpuNode says that. */
  static Enforcer of(MemoryEnforcement reported) {
    return switch (reported) {
      case Interception -> new Interception();
      case Driver -> new Cgroup();
      case None -> new None();
    };
  }

  /** As {@link dev.partita.api.device.DeviceStatusData#ENFORCEMENT} says it. */
  String word();

  /**
   * Whether containers get the shadow libraries, a quota file and a usage region, whose ledger is watched:
   * {@link CardUse#share} says what the library holds them to.
   */
  default boolean intercepts() {
    return false;
  }

  /** Whether the cgroups of pods that use the claim are limited, and their limits looked after. */
  default boolean limitsPods() {
    return false;
  }
}
