package dev.partita.controller.decode;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Stores an informer's objects that are read often. Each is made smaller ({@link CompactObjects}) before it is kept.
 */
public class CompactStore<T extends HasMetadata> extends BasicItemStore<T> {
  private final AtomicLong bytes = new AtomicLong();
  private final Consumer<T> lighten;

  /**
   * Makes an empty store.
   *
   * @param lighten takes away from an object what need not be kept of it
   */
  public CompactStore(Consumer<T> lighten) {
    super(Cache::metaNamespaceKeyFunc);
    this.lighten = lighten;
  }

  /** Bytes of the heap that its objects take, by estimate ({@link ObjectBytes}). For any thread. */
  public long bytes() {
    return bytes.get();
  }

  @Override
  public @Nullable T put(String key, T object) {
    lighten.accept(object);
    @Nullable T before = super.put(key, CompactObjects.compact(object));
    bytes.addAndGet(ObjectBytes.of(object) - ObjectBytes.of(before));
    return before;
  }

  @Override
  public @Nullable T remove(String key) {
    @Nullable T before = super.remove(key);
    bytes.addAndGet(-ObjectBytes.of(before));
    return before;
  }
}
