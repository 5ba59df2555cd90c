package dev.partita.cli.resize;

import dev.partita.api.Driver;
import dev.partita.api.Excerpt;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ResizeAnswer;
import dev.partita.cli.output.Printable;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** How far a size that was asked for has come. */
sealed interface ResizeProgress {
  /** Characters of what somebody else asks for, who may write anything. */
  int MOST_SHOWN = 200;

  /** No controller has answered yet. */
  record Unanswered() implements ResizeProgress {}

  /** It waits: for memory or cores that others have, or for its node. */
  record UnderWay(String words) implements ResizeProgress {}

  /** It can never be had. */
  record Refused(String words) implements ResizeProgress {}

  /** Containers are held to it. */
  record InForce(String words) implements ResizeProgress {}

  /**
   * Reads it from the claim.
   *
   * @param claim null if it is gone
   * @param asked as the annotation has it
   */
  static ResizeProgress of(@Nullable ResourceClaim claim, String asked) {
    if (claim == null) {
      return new Refused("the claim is gone");
    }
    Map<String, String> annotations = Objects.requireNonNullElse(claim.getMetadata().getAnnotations(), Map.of());
    Optional<ResizeAnswer> answer = ResizeAnswer.of(claim).filter(its -> its.isTo(asked));
    if (answer.isEmpty()) {
      @Nullable String other = annotations.get(Driver.RESIZE_ANNOTATION);
      if (other == null) {
        return new Refused("somebody else took back what was asked for");
      }
      return asked.equals(other)
          ? new Unanswered()
          : new Refused("somebody else asks for another size: " + Printable.text(Excerpt.of(other, MOST_SHOWN)));
    }
    String words = answer.get().words();
    if (words.startsWith(ResizeAnswer.REFUSED)) {
      return new Refused(words);
    }
    if (!words.equals(ResizeAnswer.GRANTED)) {
      return new UnderWay(words);
    }
    List<String> missing = missing(claim);
    return missing.isEmpty()
        ? new InForce("in force: " + sizes(claim))
        : new UnderWay("granted, not in force yet: " + String.join("; ", missing)
            + ". A smaller size waits until the share's processes hold no more than that; kubectl describe shows events");
  }

  private static String sizes(ResourceClaim claim) {
    Map<String, ?> granted = GrantedSizes.of(claim).byShareId();
    return granted.isEmpty()
        ? "what the claim was allocated"
        : String.join("; ",
            new TreeSet<>(granted.values().stream().map(Object::toString).toList()));
  }

  /** Granted sizes that no device's status has. */
  private static List<String> missing(ResourceClaim claim) {
    List<String> missing = new ArrayList<>();
    GrantedSizes.of(claim).byShareId().forEach((share, size) -> {
      if (devices(claim).stream().noneMatch(device -> device.getShareID() != null
          && GrantedSizes.key(device.getShareID()).equals(share)
          && DeviceStatusData.SIZE_IN_FORCE.in(device).filter(size.toString()::equals).isPresent())) {
        missing.add(size.toString());
      }
    });
    return missing;
  }

  private static List<AllocatedDeviceStatus> devices(ResourceClaim claim) {
    return claim.getStatus() == null || claim.getStatus().getDevices() == null
        ? List.of()
        : claim.getStatus().getDevices();
  }
}
