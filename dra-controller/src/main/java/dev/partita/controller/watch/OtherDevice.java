package dev.partita.controller.watch;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** A device of another DRA driver, as allocations name it. */
public record OtherDevice(Pool pool, String device) {
  /** A pool of another DRA driver. Drivers may call theirs by the same name. */
  public record Pool(String driver, String name) {
    /** A key that no other pool has: names of drivers have no blanks. */
    @Override
    public String toString() {
      return driver + " " + name;
    }
  }

  /** What a claim has of other drivers; without what it has for administration, which takes nothing of a device. */
  public static Set<OtherDevice> of(ResourceClaim claim) {
    return AllocatedDevices.of(claim).stream()
        .filter(result -> !Driver.NAME.equals(result.getDriver()) && !Boolean.TRUE.equals(result.getAdminAccess()))
        .map(result -> new OtherDevice(
            new Pool(Objects.requireNonNullElse(result.getDriver(), ""),
                Objects.requireNonNullElse(result.getPool(), "")),
            Objects.requireNonNullElse(result.getDevice(), "")))
        .collect(Collectors.toUnmodifiableSet());
  }
}
