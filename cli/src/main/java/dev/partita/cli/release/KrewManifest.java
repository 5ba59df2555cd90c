package dev.partita.cli.release;

import dev.partita.cli.images.Processor;
import dev.partita.cli.images.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The plugin's manifest for krew: the description that the checkout has, and where each processor's archive is. */
final class KrewManifest {
  private KrewManifest() {}

  /**
   * @param template the description, with {@code @VERSION@}, to which the platforms are added
   * @param archives of the command line, by processor
   */
  static String of(Path template, Map<Processor, Path> archives, ReleaseFacts facts) throws IOException {
    StringBuilder manifest = new StringBuilder(Files.readString(template).replace("@VERSION@", "v" + facts.version()));
    for (Map.Entry<Processor, Path> archive : archives.entrySet()) {
      manifest.append("""
              - selector: {matchLabels: {os: linux, arch: %s}}
                uri: %s/%s
                sha256: %s
                files: [{from: "partita/*", to: "."}]
                bin: bin/partita
          """.formatted(archive.getKey(), facts.url(), archive.getValue().getFileName(),
          Sha256.of(archive.getValue())));
    }
    return manifest.toString();
  }
}
