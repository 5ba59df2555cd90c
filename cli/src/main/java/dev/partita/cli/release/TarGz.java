package dev.partita.cli.release;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Map;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipParameters;

/** Archives that the same content makes the same bytes of: entries as they come, root's, of one time. */
final class TarGz {
  private TarGz() {}

  /** A tar file. */
  static byte[] tar(Map<String, byte[]> files, Instant time) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    tar(files, time, bytes);
    return bytes.toByteArray();
  }

  /** A tar file, compressed by gzip. */
  static byte[] tgz(Map<String, byte[]> files, Instant time) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    GzipParameters parameters = new GzipParameters();
    parameters.setModificationInstant(Instant.EPOCH);
    try (OutputStream gzip = new GzipCompressorOutputStream(bytes, parameters)) {
      tar(files, time, gzip);
    }
    return bytes.toByteArray();
  }

  private static void tar(Map<String, byte[]> files, Instant time, OutputStream into) throws IOException {
    try (TarArchiveOutputStream tar = new TarArchiveOutputStream(into)) {
      tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        TarArchiveEntry entry = new TarArchiveEntry(file.getKey());
        entry.setSize(file.getValue().length);
        entry.setMode(0100644);
        entry.setModTime(time.toEpochMilli());
        entry.setIds(0, 0);
        tar.putArchiveEntry(entry);
        tar.write(file.getValue());
        tar.closeArchiveEntry();
      }
    }
  }
}
