package dev.partita.plugin.prepare;

import dev.partita.plugin.mps.MpsControl;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** MPS daemons that outlive the plugin. */
final class RunningMps implements MpsControl {
  /** Folders of sockets, by the card's UUID. */
  final Map<String, Path> running = new TreeMap<>();
  /** What a client gets at most, by the card's UUID. */
  final Map<String, String> limits = new TreeMap<>();
  /** How often one was begun. */
  int times;
  /** Why none can be begun; empty if one can. */
  String refusal = "";

  @Override
  public boolean answers(Path pipe) {
    return running.containsValue(pipe);
  }

  @Override
  public void begin(String card, Path pipe, Path log) throws IOException {
    if (!refusal.isEmpty()) {
      throw new IOException(refusal);
    }
    times++;
    running.put(card, pipe);
  }

  @Override
  public void limit(Path pipe, int percent, long mebibytes) {
    limits.put(pipe.getName(pipe.getNameCount() - 2).toString(), percent + " % " + mebibytes + "M");
  }

  @Override
  public void end(Path pipe) throws IOException {
    if (!refusal.isEmpty()) {
      throw new IOException(refusal);
    }
    running.values().remove(pipe);
  }
}
