package dev.partita.admission.source;

import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What has been read of a pod, so that it is read once. For one thread. */
final class Readings {
  private record Reading(Object value, List<FieldError> problems) {}

  private final Map<Object, Reading> known = new HashMap<>();

  @SuppressWarnings("unchecked") // a key always comes with the same reading
  <T> T of(Object key, Function<List<FieldError>, T> reading, List<FieldError> problems) {
    @Nullable Reading read = known.get(key);
    if (read == null) {
      List<FieldError> found = new ArrayList<>();
      read = new Reading(reading.apply(found), found); // it may read others
      known.put(key, read);
    }
    problems.addAll(read.problems());
    return (T) read.value();
  }
}
