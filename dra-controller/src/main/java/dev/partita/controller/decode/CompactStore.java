package dev.partita.controller.decode;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import org.jspecify.annotations.Nullable;

/**
 * An informer's store of objects that are read often: each is made smaller ({@link CompactObjects}) before it is kept.
 */
public class CompactStore<T extends HasMetadata> extends BasicItemStore<T> {
  public CompactStore() {
    super(Cache::metaNamespaceKeyFunc);
  }

  @Override
  public @Nullable T put(String key, T object) {
    return super.put(key, CompactObjects.compact(object));
  }
}
