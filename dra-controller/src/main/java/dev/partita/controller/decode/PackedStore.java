package dev.partita.controller.decode;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Stores an informer's objects that are large and seldom read. The informer and its listeners get what is left of an
 * object without its large parts. The whole is kept as compressed JSON, of which every reader gets a copy. The
 * ResourceSlice of a node of 8 cards takes some 120 KiB as an object and less than 2 KiB packed; it is unpacked in a
 * fraction of a millisecond.
 */
public final class PackedStore<T extends HasMetadata> extends CompactStore<T> {
  private final ConcurrentMap<String, byte[]> wholes = new ConcurrentHashMap<>();
  private final AtomicLong packed = new AtomicLong();
  private final KubernetesSerialization serialization;
  private final Class<T> type;

  /**
   * Makes an empty store.
   *
   * @param lighten takes the large parts away from the object
   */
  public PackedStore(KubernetesSerialization serialization, Class<T> type, Consumer<T> lighten) {
    super(lighten);
    this.serialization = serialization;
    this.type = type;
  }

  @Override
  public long bytes() {
    return super.bytes() + packed.get();
  }

  @Override
  public @Nullable T put(String key, T object) {
    byte[] whole = pack(object);
    packed.addAndGet(ObjectBytes.of(whole) - ObjectBytes.of(wholes.put(key, whole)));
    return super.put(key, object);
  }

  @Override
  public @Nullable T remove(String key) {
    @Nullable T before = super.remove(key);
    packed.addAndGet(-ObjectBytes.of(wholes.remove(key)));
    return before;
  }

  /** The whole object of that key, for the caller alone; null if there is none. */
  public @Nullable T whole(String key) {
    byte @Nullable [] bytes = wholes.get(key);
    return bytes == null
        ? null
        : serialization.unmarshal(new InflaterInputStream(new ByteArrayInputStream(bytes)), type);
  }

  private byte[] pack(T object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(2048);
    Deflater deflater = new Deflater(Deflater.BEST_SPEED);
    try (DeflaterOutputStream out = new DeflaterOutputStream(bytes, deflater)) {
      out.write(serialization.asJson(object).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      deflater.end();
    }
    return bytes.toByteArray();
  }
}
