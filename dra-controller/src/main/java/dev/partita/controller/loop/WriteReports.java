package dev.partita.controller.loop;

import dev.partita.controller.commit.WriteListener;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.schedule.ClaimNotes;
import dev.partita.controller.schedule.WorkItem;
import dev.partita.controller.watch.ObjectKey;
import java.util.Optional;
import java.util.function.Consumer;

/** Tells the allocation loop how writes ended, and people what was allocated. */
final class WriteReports implements WriteListener {
  private final ClaimNotes notes;
  private final Consumer<WorkItem> loop;

  WriteReports(ClaimNotes notes, Consumer<WorkItem> loop) {
    this.notes = notes;
    this.loop = loop;
  }

  @Override
  public void allocated(ClaimPlacement placement, String node) {
    notes.allocated(placement, node);
  }

  @Override
  public void written(ClaimRef claim, Optional<String> version) {
    loop.accept(new WorkItem.ClaimWritten(claim, version));
  }

  @Override
  public void finished(ObjectKey pod, boolean failed) {
    loop.accept(new WorkItem.PodWritten(pod, failed));
  }

  @Override
  public void notReleased(ObjectKey claim, String claimUid) {
    loop.accept(new WorkItem.ReleaseFailed(claim, claimUid));
  }

  @Override
  public void evictionRefused(ObjectKey pod, String podUid, String victimUid) {
    loop.accept(new WorkItem.EvictionRefused(pod, podUid, victimUid));
  }

  @Override
  public void evictionNotSent(ObjectKey pod, String podUid, String victimUid) {
    loop.accept(new WorkItem.EvictionNotSent(pod, podUid, victimUid));
  }
}
