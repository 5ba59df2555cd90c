package dev.partita.controller.inventory;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * One capacity of a device, in its natural unit (bytes, percent).
 *
 * @param total what the device has
 * @param policy how a request for a part of it is understood; empty where it is not handed out in parts
 */
public record Capacity(long total, Optional<RequestPolicy> policy) {
  /**
   * What a request takes of a capacity that is handed out in parts; empty if it is more than the device may hand out.
   *
   * @param asked empty if the request does not name the capacity
   */
  public OptionalLong taken(OptionalLong asked) {
    RequestPolicy parts = policy.orElseThrow();
    return asked.isEmpty() ? OptionalLong.of(parts.whenNotAsked()) : parts.consumed(asked.getAsLong());
  }

  /**
   * The API's requestPolicy with a validRange.
   *
   * @param whenNotAsked what a request that does not name the capacity consumes
   * @param min smallest part; a request below it is rounded up
   * @param max largest part; a request above it cannot be met by this device
   * @param step parts are min plus a multiple of it, and requests round up; empty for every value
   */
  public record RequestPolicy(long whenNotAsked, long min, long max, OptionalLong step) {
    public RequestPolicy {
      if (min < 0 || min > max || whenNotAsked < min || whenNotAsked > max) {
        throw new IllegalArgumentException(
            "a policy needs 0 <= min <= default <= max: " + min + ", " + whenNotAsked + ", " + max);
      }
      if (step.isPresent() && step.getAsLong() <= 0) {
        throw new IllegalArgumentException("a step must be above 0: " + step.getAsLong());
      }
    }

    /** What a request for {@code asked} consumes; empty if it is more than the device may hand out. */
    public OptionalLong consumed(long asked) {
      long rounded = Math.max(asked, min);
      if (step.isPresent()) {
        long stride = step.getAsLong();
        long beyond = (rounded - min) % stride;
        rounded = beyond == 0 ? rounded : rounded - beyond + stride;
      }
      return rounded > max ? OptionalLong.empty() : OptionalLong.of(rounded);
    }

    /** The largest part that is no more than {@code free}; 0 if there is none. */
    public long largestWithin(long free) {
      long most = Math.min(free, max);
      return most < min ? 0 : most - (step.isPresent() ? (most - min) % step.getAsLong() : 0);
    }
  }
}
