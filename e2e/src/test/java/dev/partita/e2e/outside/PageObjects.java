package dev.partita.e2e.outside;

import dev.partita.e2e.pages.FencedBlock;
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
  static PageObjects of(Path page) {
    return in(text(page));
  }

  /**
   * Those of one section.
   *
   * @param heading its line, such as {@code ## KAI}
   */
  static PageObjects of(Path page, String heading) {
    String after = text(page).split("(?m)^" + Pattern.quote(heading) + "$", 2)[1];
    return in(after.split("(?m)^## ", 2)[0]);
  }

  private static String text(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static PageObjects in(String markdown) {
    return new PageObjects(
        FencedBlock.yaml(markdown).flatMap(block -> Stream.of(block.split("(?m)^---$", -1))).toList());
  }

  /** The first document of a kind. */
  String ofKind(String kind) {
    return documents.stream().filter(document -> document.contains("\nkind: " + kind + "\n")).findFirst().orElseThrow();
  }

  /** The first object of a kind. */
  HasMetadata object(KubernetesClient client, String kind) {
    return read(client, ofKind(kind)).getFirst();
  }

  /** All objects of a kind, in the page's order. */
  List<HasMetadata> objects(KubernetesClient client, String kind) {
    return documents.stream().filter(document -> document.contains("\nkind: " + kind + "\n"))
        .flatMap(document -> read(client, document).stream()).toList();
  }

  /** The objects of YAML documents. */
  static List<HasMetadata> read(KubernetesClient client, String yaml) {
    // else a flow mapping is taken for JSON
    return client.load(new ByteArrayInputStream(("---\n" + yaml).getBytes(StandardCharsets.UTF_8))).items();
  }
}
