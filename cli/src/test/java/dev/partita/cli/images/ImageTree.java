package dev.partita.cli.images;

import dev.partita.cli.checkout.StagedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Optional;

/** An image laid out as the build does it, small. */
final class ImageTree {
  static final Provenance PROVENANCE = new Provenance("1.2.3", "abc", Instant.parse("2026-01-02T03:04:05Z"));

  private ImageTree() {}

  static StagedImage in(Path folder, String name) throws IOException {
    Path image = Files.createDirectories(folder.resolve(name));
    Files.writeString(image.resolve("Containerfile"), """
        # A test's.
        ARG BASE=scratch
        FROM ${BASE}
        COPY root/ /
        USER 65532:65532
        ENTRYPOINT ["/usr/bin/program", "@/etc/program.args"]
        """);
    Files.writeString(image.resolve("entrypoint"), "[\"/usr/bin/program\", \"@/etc/program.args\"]\n");
    Files.writeString(image.resolve("bom.json"),
        """
            {"metadata": {"component": {"type": "library", "name": "api", "version": "1.2.3"}},
             "components": [{"type": "library", "bom-ref": "g", "group": "com.google.guava", "name": "guava", "version": "33",
                             "hashes": [{"alg": "SHA-256", "content": "%s"}],
                             "licenses": [{"license": {"id": "Apache-2.0"}}], "purl": "pkg:maven/com.google.guava/guava@33"}]}
            """
            .formatted("0".repeat(64)));
    file(image, "usr/lib/partita/runtime/release", "JAVA_VERSION=\"25.0.3\"\nMODULES=\"java.base java.xml\"\n");
    file(image, "usr/lib/partita/runtime/lib/modules", "classes");
    file(image, "usr/lib/partita/app/guava-33.jar", "a library");
    file(image, "usr/lib/partita/app/api-1.2.3.jar", "our own");
    file(image, "etc/program.args", "-v\n");
    if (!file(image, "usr/bin/program", "#!/bin/sh\n").toFile().setExecutable(true)) {
      throw new IOException("cannot be made executable");
    }
    return new StagedImage(name, image);
  }

  private static Path file(Path image, String path, String content) throws IOException {
    Path file = image.resolve("root").resolve(path);
    Files.createDirectories(Optional.ofNullable(file.getParent()).orElseThrow());
    Files.writeString(file, content);
    Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
    return file;
  }

  static ImageRequest request(StagedImage image, Processor processor, String base) {
    return new ImageRequest(image, processor, BaseImage.of(base), "registry.example/partita", "v1", PROVENANCE);
  }
}
