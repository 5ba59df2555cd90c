package dev.partita.cli.images;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/**
 * Makes an image of a root folder's tar file, in the format of {@code docker save}, which Jib reads: with one layer,
 * and of the processor that is said.
 */
final class RootArchive {
  private RootArchive() {}

  /**
   * @param root an uncompressed tar file, as mmdebstrap writes it
   * @param cache where the image is kept
   */
  static Path image(Path root, Processor processor, Path cache) throws IOException {
    String sum = Sha256.of(root);
    Path image = cache.resolve("root-" + sum.substring(0, 16) + "-" + processor + ".tar");
    if (Files.exists(image)) {
      return image;
    }
    String config =
        """
            {"architecture":"%s","os":"linux",\
            "config":{"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},\
            "rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}""".formatted(processor, sum);
    Files.createDirectories(cache);
    Path part = Files.createTempFile(cache, "root-", ".part");
    try (OutputStream out = Files.newOutputStream(part); TarArchiveOutputStream tar = new TarArchiveOutputStream(out)) {
      tar.setBigNumberMode(TarArchiveOutputStream.BIGNUMBER_POSIX);
      text(tar, "config.json", config);
      TarArchiveEntry layer = new TarArchiveEntry("layer.tar");
      layer.setSize(Files.size(root));
      tar.putArchiveEntry(layer);
      Files.copy(root, tar);
      tar.closeArchiveEntry();
      text(tar, "manifest.json",
          "[{\"Config\":\"config.json\",\"RepoTags\":[\"root:%s\"],\"Layers\":[\"layer.tar\"]}]"
              .formatted(processor));
    }
    return Files.move(part, image, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void text(TarArchiveOutputStream tar, String name, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    TarArchiveEntry entry = new TarArchiveEntry(name);
    entry.setSize(bytes.length);
    tar.putArchiveEntry(entry);
    tar.write(bytes);
    tar.closeArchiveEntry();
  }
}
