package dev.partita.e2e.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads Grafana's dashboards, as far as what they ask of Prometheus goes. */
public final class Dashboard {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Dashboard() {}

  /**
   * A question of a panel.
   *
   * @param file of the dashboard
   * @param query in PromQL, with every variable of the dashboard set to all
   */
  public record Panel(String file, String title, String query) {}

  /** Every question of every panel of the dashboards in a folder; a panel may have several. */
  public static List<Panel> panelsIn(Path folder) throws IOException {
    List<Panel> panels = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(file -> file.toString().endsWith(".json")).sorted().toList()) {
        add(String.valueOf(file.getFileName()), MAPPER.readTree(file.toFile()), panels);
      }
    }
    return panels;
  }

  private static void add(String file, JsonNode holder, List<Panel> panels) {
    for (JsonNode panel : holder.path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        String query = target.path("expr").asText().replaceAll("\\$\\{?[a-z]+}?", ".*");
        panels.add(new Panel(file, panel.path("title").asText(), query));
      }
      add(file, panel, panels); // a row has panels of its own
    }
  }
}
