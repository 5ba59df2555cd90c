package dev.partita.plugin.usage.verdict;

import java.time.Instant;
import java.util.List;

/** Whether a share keeps to its core limit, by NVML's samples. */
public sealed interface CoreUse {
  /** It has no hard limit, or a container has a share beside it that lifts it. */
  record NotLimited() implements CoreUse {}

  /** It has not been watched for long enough to say anything. */
  record Watched() implements CoreUse {}

  /**
   * It does.
   *
   * @param limit in percent, with that of the shares that containers have beside it
   */
  record Within(int limit) implements CoreUse {}

  /**
   * It does not, clearly and lastingly.
   *
   * @param percent of the card's time that its processes had since then
   * @param limit as in {@link Within}
   * @param since when it began to have more than its limit
   * @param users those of its processes that had some of it, the greatest first
   */
  record Exceeded(int percent, int limit, Instant since, List<User> users) implements CoreUse {
    public Exceeded {
      users = List.copyOf(users);
    }
  }

  /**
   * A process and what it had.
   *
   * @param pid as this pid namespace names it
   * @param percent of the card's time
   * @param inLedger whether it goes through the interception library, as far as its ledger says
   */
  record User(long pid, int percent, boolean inLedger) {}

  /**
   * NVML does not tell.
   *
   * @param why for people
   */
  record Untold(String why) implements CoreUse {}
}
