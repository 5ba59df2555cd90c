package dev.partita.plugin.prepare;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.plugin.timeslice.TimeSliceControl;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/** The time slices of cards that outlive the plugin. */
final class SetTimeSlices implements TimeSliceControl {
  /** What is not the driver's default, by the card's UUID. */
  final Map<String, TimeSlice> other = new TreeMap<>();
  /** How often one was set. */
  int times;
  /** Why none can be set; empty if one can. */
  String refusal = "";

  @Override
  public void set(String card, TimeSlice slice) throws IOException {
    if (!refusal.isEmpty()) {
      throw new IOException(refusal);
    }
    times++;
    if (slice == TimeSlice.DEFAULT) {
      other.remove(card);
    } else {
      other.put(card, slice);
    }
  }
}
