package dev.partita.cli.rightsizing;

import dev.partita.controller.fleet.ClaimDevice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a fleet would gain if shares held what they need.
 *
 * @param oversized shares that hold far more than they ever used, those first of which most is gained
 * @param shares how many shares were looked at
 * @param young how many of them are too young to tell
 * @param unmeasured how many of the others nobody measured
 */
public record RightSizing(List<Oversized> oversized, int shares, int young, int unmeasured) {
  private static final String UNKNOWN_MODEL = "unknown";

  public RightSizing {
    oversized = List.copyOf(oversized);
  }

  /**
   * A share that holds too much.
   *
   * @param device the share
   * @param age how long ago it was allocated
   * @param peak bytes that its processes held at most
   * @param proposed bytes that it should hold
   */
  public record Oversized(ClaimDevice device, Duration age, long peak, long proposed) {
    /** Bytes that others could have. */
    public long gain() {
      return device.booking().memory() - proposed;
    }

    /** The card's model, or that it is not known. */
    public String model() {
      return device.model().isEmpty() ? UNKNOWN_MODEL : device.model();
    }
  }

  /** Looks at every share of these claims. */
  public static RightSizing of(Collection<ResourceClaim> claims, SizingRule rule, Instant now) {
    List<Oversized> oversized = new ArrayList<>();
    int shares = 0;
    int young = 0;
    int unmeasured = 0;
    for (ResourceClaim claim : claims) {
      Duration age = Duration.between(since(claim, now), now);
      for (ClaimDevice device : ClaimDevice.of(claim).stream().filter(ClaimDevice::isShare).toList()) {
        shares++;
        OptionalLong peak = device.measured().memoryPeak();
        if (age.compareTo(rule.minAge()) < 0) {
          young++;
        } else if (peak.isEmpty()) {
          unmeasured++;
        } else if (rule.isFarBelow(peak.getAsLong(), device.booking().memory())
            && rule.proposed(peak.getAsLong()) < device.booking().memory()) {
          oversized.add(new Oversized(device, age, peak.getAsLong(), rule.proposed(peak.getAsLong())));
        }
      }
    }
    oversized.sort(Comparator.comparingLong(Oversized::gain).reversed()
        .thenComparing(share -> share.device().claimName()));
    return new RightSizing(oversized, shares, young, unmeasured);
  }

  /** When it was allocated; what cannot be read counts as now. */
  private static Instant since(ResourceClaim claim, Instant now) {
    if (claim.getStatus() == null || claim.getStatus().getAllocation() == null
        || claim.getStatus().getAllocation().getAllocationTimestamp() == null) {
      return now;
    }
    try {
      return Instant.parse(claim.getStatus().getAllocation().getAllocationTimestamp());
    } catch (DateTimeException e) {
      return now;
    }
  }

  /** Bytes that would be gained of each model's cards. */
  public SortedMap<String, Long> gains() {
    SortedMap<String, Long> gains = new TreeMap<>();
    oversized.forEach(share -> gains.merge(share.model(), share.gain(), Long::sum));
    return gains;
  }
}
