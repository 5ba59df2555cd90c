package dev.partita.plugin.checkpoint;

import java.io.IOException;

/** A record was written by another version of the plugin. Only that version can read it and release what it lists. */
public final class OtherVersionException extends IOException {
  private static final long serialVersionUID = 1L;

  OtherVersionException(String file, String version) {
    super(
        "record " + file + " has version " + version + ", this plugin reads " + ClaimRecord.VERSION
            + ": what the claim has stays as it is. Run the version of the plugin that wrote it; or, if none is to run here any more,"
            + " end the claim's pods, drain the node and remove the file");
  }
}
