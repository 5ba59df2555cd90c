package dev.partita.controller.slices;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps which features of slices the API server drops: to write them again and again would change nothing. They are
 * tried again after {@link #PAUSE}, for an API server of another version, or with other feature gates, may have taken
 * its place. For one thread.
 */
final class DroppedFeatures {
  static final Duration PAUSE = Duration.ofHours(1);
  private static final Logger LOG = LoggerFactory.getLogger(DroppedFeatures.class);

  private final Clock monotonicClock;
  private final Map<SliceFeature, Instant> dropped = new EnumMap<>(SliceFeature.class); // when it last was

  DroppedFeatures(Clock monotonicClock) {
    this.monotonicClock = monotonicClock;
  }

  /** The features that slices are to have now. */
  Set<SliceFeature> notDropped() {
    Instant now = monotonicClock.instant();
    Set<SliceFeature> notDropped = EnumSet.allOf(SliceFeature.class);
    dropped.forEach((feature, when) -> {
      if (now.isBefore(when.plus(PAUSE))) {
        notDropped.remove(feature);
      }
    });
    return notDropped;
  }

  /** Learns from a slice as it was written and as the API server has kept it. */
  void compare(ResourceSliceSpec written, ResourceSliceSpec kept) {
    for (SliceFeature feature : SliceFeature.values()) {
      if (!feature.isIn(written)) {
        continue;
      }
      if (!feature.isIn(kept)) {
        if (dropped.put(feature, monotonicClock.instant()) == null) {
          LOG.info("slices go without what the API server drops, as it does with the feature gate {} off",
              feature.gate());
        }
      } else if (dropped.remove(feature) != null) {
        LOG.info("slices have again what the API server dropped before, as it does with the feature gate {} off",
            feature.gate());
      }
    }
  }
}
