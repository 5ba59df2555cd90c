package dev.partita.cli.images;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** Bases: an image as {@code docker save} writes it, with one layer of one file, and a root folder. */
final class SavedImage {
  private SavedImage() {}

  static Path in(Path file, String architecture) throws IOException {
    ByteArrayOutputStream layer = new ByteArrayOutputStream();
    tar(layer, Map.of("etc/base", bytes("base\n")));
    String config =
        """
            {"architecture": "%s", "os": "linux", "config": {"Env": ["PATH=/base"]},
             "rootfs": {"type": "layers", "diff_ids": ["sha256:%s"]}}
            """.formatted(architecture, sha256(layer.toByteArray()));
    try (OutputStream out = Files.newOutputStream(file)) {
      tar(out, Map.of("config.json", bytes(config), "layer.tar", layer.toByteArray(), "manifest.json",
          bytes("[{\"Config\": \"config.json\", \"RepoTags\": [\"base:1\"], \"Layers\": [\"layer.tar\"]}]")));
    }
    return file;
  }

  /** A root folder's tar file, with an empty folder and a file. */
  static Path root(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      tar(out, Map.of("./usr/", new byte[0], "./usr/base", bytes("base\n")));
    }
    return file;
  }

  private static void tar(OutputStream out, Map<String, byte[]> files) throws IOException {
    try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out)) {
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        TarArchiveEntry entry = new TarArchiveEntry(file.getKey());
        entry.setSize(file.getValue().length);
        tar.putArchiveEntry(entry);
        tar.write(file.getValue());
        tar.closeArchiveEntry();
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String sha256(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
