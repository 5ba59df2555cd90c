package dev.partita.plugin.nvml;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Notes when calls to NVML begin and end, so that it is known whether the driver answers: one in trouble may not come
 * back from a call at all, not even from nvmlInit.
 */
public final class DriverWatch {
  /** Cards that sleep take some seconds to answer. */
  private static final Duration LONG = Duration.ofSeconds(10);

  private final LongSupplier nanos;
  private final Map<Long, Long> begun = new ConcurrentHashMap<>(); // by call: when
  private final AtomicLong calls = new AtomicLong();
  private volatile Optional<Long> longEnded = Optional.empty();

  /** Opens NVML from a file. */
  public interface Opener {
    CardReader open(Path library) throws NvmlException;
  }

  public DriverWatch(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** The same opener, and its readers, with every call noted. */
  public Opener around(Opener opener) {
    return library -> call(() -> new Watched(opener.open(library)));
  }

  /** Whether a call has been under way for more than 10 s, or such a one came back less than so long ago. */
  public boolean keepsWaiting(Duration within) {
    long now = nanos.getAsLong();
    return begun.values().stream().anyMatch(begin -> now - begin >= LONG.toNanos())
        || longEnded.filter(end -> now - end < within.toNanos()).isPresent();
  }

  private interface Call<T> {
    T run() throws NvmlException;
  }

  private <T> T call(Call<T> call) throws NvmlException {
    long id = calls.incrementAndGet();
    long begin = nanos.getAsLong();
    begun.put(id, begin);
    try {
      return call.run();
    } finally {
      begun.remove(id);
      long end = nanos.getAsLong();
      if (end - begin >= LONG.toNanos()) {
        longEnded = Optional.of(end);
      }
    }
  }

  private final class Watched implements CardReader {
    private final CardReader reader;

    Watched(CardReader reader) {
      this.reader = reader;
    }

    @Override
    public CardReading read() throws NvmlException {
      return call(reader::read);
    }

    @Override
    public Map<String, List<ProcessMemory>> processes() throws NvmlException {
      return call(reader::processes);
    }

    @Override
    public List<ProcessSample> samples(String uuid, long newerThan) throws NvmlException {
      return call(() -> reader.samples(uuid, newerThan));
    }

    @Override
    public Map<String, Map<CardFigure, Double>> figures() throws NvmlException {
      return call(reader::figures);
    }

    @Override
    public Optional<XidEvent> awaitXid(Duration atMost) throws NvmlException {
      return call(() -> reader.awaitXid(atMost));
    }

    @Override
    public MigState mig(String card) throws NvmlException {
      return call(() -> reader.mig(card));
    }

    @Override
    public List<CardUser> users(String card) throws NvmlException {
      return call(() -> reader.users(card));
    }

    @Override
    public void switchMig(String card, boolean on) throws NvmlException {
      change(() -> reader.switchMig(card, on));
    }

    @Override
    public void makeInstance(String card, String profile, int start) throws NvmlException {
      change(() -> reader.makeInstance(card, profile, start));
    }

    @Override
    public void endInstance(String card, int gpuInstance) throws NvmlException {
      change(() -> reader.endInstance(card, gpuInstance));
    }

    @Override
    public OptionalLong memoryLimit(String card, Path cgroup) throws NvmlException {
      return call(() -> reader.memoryLimit(card, cgroup));
    }

    @Override
    public void limitMemory(String card, Path cgroup, long bytes) throws NvmlException {
      change(() -> reader.limitMemory(card, cgroup, bytes));
    }

    @Override
    public void close() {
      try {
        change(reader::close);
      } catch (NvmlException e) {
        throw new IllegalStateException(e); // closing throws none
      }
    }

    private interface Change {
      void make() throws NvmlException;
    }

    private void change(Change change) throws NvmlException {
      call(
          () -> {
            change.make();
            return true;
          });
    }
  }
}
