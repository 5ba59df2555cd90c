package dev.partita.controller.watch;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts an informer's objects: its store can only be asked for a copy of all. */
final class ObjectCount implements ResourceEventHandler<HasMetadata> {
  private final AtomicInteger count = new AtomicInteger();

  int now() {
    return count.get();
  }

  @Override
  public void onAdd(HasMetadata object) {
    count.incrementAndGet();
  }

  @Override
  public void onUpdate(HasMetadata before, HasMetadata after) {}

  @Override
  public void onDelete(HasMetadata object, boolean unknown) {
    count.decrementAndGet();
  }
}
