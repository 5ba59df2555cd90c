package dev.partita.controller.loop;

import dev.partita.controller.schedule.PodQueue;
import dev.partita.controller.schedule.PodScheduler;
import dev.partita.controller.schedule.Resizes;
import java.time.Duration;

/**
 * Wakes pods and claims that wait when something has changed that could help them, and has pods told anew why they wait
 * when less is free than they were told. For one thread.
 */
final class Wakeups {
  private final PodQueue queue;
  private final Resizes resizes;
  private final PodScheduler scheduler;
  private final StaleReasons stale;
  private Duration saying = Duration.ZERO;
  private boolean isSaying;

  Wakeups(PodQueue queue, Resizes resizes, PodScheduler scheduler, StaleReasons stale) {
    this.queue = queue;
    this.resizes = resizes;
    this.scheduler = scheduler;
    this.stale = stale;
  }

  /** Something has changed that pods and claims that wait may be helped by. */
  void helps() {
    queue.helps();
    resizes.helps();
  }

  /** More is taken: that helps nobody, but what was said of free cards is not true any more. */
  void taken() {
    stale.taken(scheduler.numberWaiting());
  }

  /** The pods that wait are told anew why they do. */
  void sayAgain() {
    helps();
    isSaying = true;
    saying = Duration.ZERO;
  }

  /** For so long pods were decided about. */
  void decided(Duration took) {
    saying = saying.plus(took);
  }

  /** No pod is left that is to be decided about. */
  void allDecided() {
    if (isSaying) {
      isSaying = false;
      stale.said(saying);
    }
  }
}
