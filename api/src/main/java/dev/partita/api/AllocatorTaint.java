package dev.partita.api;

import org.jspecify.annotations.Nullable;

/** The taint that keeps kube-scheduler from devices that the controller allocates: which tolerations undo it. */
public final class AllocatorTaint {
  private AllocatorTaint() {}

  /**
   * Whether a device toleration covers the taint, as Kubernetes reads tolerations of devices (resource.k8s.io/v1,
   * DeviceToleration). What is null or empty covers everything.
   */
  public static boolean isCoveredBy(
      @Nullable String key,
      @Nullable String operator,
      @Nullable String value,
      @Nullable String effect) {
    return isMeantBy(key, effect) && ("Exists".equals(operator) || Driver.CONTROLLER_TAINT_VALUE.equals(value));
  }

  /** Whether a toleration of this key and effect is about the taint, whatever its operator and value. */
  public static boolean isMeantBy(@Nullable String key, @Nullable String effect) {
    return isEmptyOr(key, Driver.ALLOCATOR_TAINT) && isEmptyOr(effect, "NoSchedule");
  }

  private static boolean isEmptyOr(@Nullable String given, String expected) {
    return given == null || given.isEmpty() || given.equals(expected);
  }
}
