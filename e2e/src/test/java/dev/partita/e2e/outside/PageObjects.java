package dev.partita.e2e.outside;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The YAML documents that a page of the documentation shows.
 *
 * @param documents in the page's order
 */
record PageObjects(List<String> documents) {
  private static final Pattern YAML = Pattern.compile("(?ms)^```yaml\\n(.*?)^```");

  static PageObjects of(Path page) {
    try {
      return new PageObjects(YAML.matcher(Files.readString(page)).results()
          .flatMap(block -> Stream.of(block.group(1).split("(?m)^---$", -1))).toList());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The first document of a kind. */
  String ofKind(String kind) {
    return documents.stream().filter(document -> document.contains("\nkind: " + kind + "\n")).findFirst().orElseThrow();
  }

  /** The first object of a kind. */
  HasMetadata object(KubernetesClient client, String kind) {
    return read(client, ofKind(kind)).getFirst();
  }

  /** The objects of YAML documents. */
  static List<HasMetadata> read(KubernetesClient client, String yaml) {
    // else a flow mapping is taken for JSON
    return client.load(new ByteArrayInputStream(("---\n" + yaml).getBytes(StandardCharsets.UTF_8))).items();
  }
}
