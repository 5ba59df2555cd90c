package dev.partita.controller.decode;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An informer's store of objects that are read often: each is made smaller ({@link CompactObjects}) before it is kept.
 */
public class CompactStore<T extends HasMetadata> extends BasicItemStore<T> {
  private final AtomicLong bytes = new AtomicLong();

  public CompactStore() {
    super(Cache::metaNamespaceKeyFunc);
  }

  /** Bytes of the heap that its objects take, by estimate ({@link ObjectBytes}). For any thread. */
  public long bytes() {
    return bytes.get();
  }

  @Override
  public @Nullable T put(String key, T object) {
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
