package dev.partita.controller.events;

import dev.partita.api.Excerpt;

/**
 * What a pod's condition says about its claims.
 *
 * @param status whether they are allocated
 * @param reason one CamelCase word
 * @param message for people
 */
public record AllocatedCondition(Status status, String reason, String message) {
  /** The API takes more, people do not. */
  static final int MESSAGE_MAX = 4_000;

  public AllocatedCondition {
    message = Excerpt.of(message, MESSAGE_MAX - 1);
  }

  /** The constants are spelt as they are in the condition. */
  public enum Status {
    True,
    False,
    Unknown
  }

  /** No node will do now. */
  public static AllocatedCondition waits(String why) {
    return new AllocatedCondition(Status.False, "Unallocatable", why);
  }

  /** A claim can never be allocated as it stands. */
  public static AllocatedCondition refused(String why) {
    return new AllocatedCondition(Status.False, "ClaimRefused", why);
  }

  /** Nothing is left for the controller to allocate. */
  public static AllocatedCondition done(String where) {
    return new AllocatedCondition(Status.True, "Allocated", where);
  }

  /** What the pod needs is not known. */
  public static AllocatedCondition claimMissing() {
    return new AllocatedCondition(Status.Unknown, "ClaimMissing",
        "a claim that the pod names does not exist, or is being deleted: make the claim, or make the pod anew");
  }

  /** kube-scheduler allocates wherever the pod could run: it says in its own condition what became of that. */
  public static AllocatedCondition notOurs() {
    return new AllocatedCondition(Status.Unknown, "LeftToScheduler",
        "kube-scheduler allocates on every node that the pod could run on");
  }
}
