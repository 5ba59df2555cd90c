package dev.partita.cli.images;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.commons.compress.archivers.tar.TarFile;

/**
 * What an archive in OCI's image layout says of its one image (image-spec, image-layout.md).
 *
 * @param digest of the manifest, such as sha256:…
 * @param manifestSize its length in bytes
 * @param architecture what the configuration says
 * @param user what the configuration says
 * @param compressedSize what a registry keeps of its layers, in bytes
 */
public record OciArchive(String digest, long manifestSize, String architecture, String user, long compressedSize) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Reads an archive. */
  public static OciArchive read(Path file) {
    try (TarFile tar = new TarFile(file.toFile())) {
      JsonNode described = json(tar, "index.json").at("/manifests/0");
      JsonNode manifest = json(tar, blob(described));
      JsonNode config = json(tar, blob(manifest.path("config")));
      long layers =
          StreamSupport.stream(manifest.path("layers").spliterator(), false).mapToLong(l -> l.path("size").asLong())
              .sum();
      return new OciArchive(described.path("digest").asText(), described.path("size").asLong(),
          config.path("architecture").asText(), config.at("/config/User").asText(), layers);
    } catch (IOException | UncheckedIOException unreadable) {
      throw CommandFailure.failed("%s is no OCI archive: %s".formatted(file, unreadable.getMessage()));
    }
  }

  private static String blob(JsonNode descriptor) {
    return "blobs/" + descriptor.path("digest").asText().replace(':', '/');
  }

  private static JsonNode json(TarFile tar, String name) throws IOException {
    var entry =
        List.copyOf(tar.getEntries()).stream().filter(each -> each.getName().equals(name)).findFirst()
            .orElseThrow(() -> new UncheckedIOException(new IOException("it has no " + name)));
    try (InputStream in = tar.getInputStream(entry)) {
      return JSON.readTree(in);
    }
  }
}
