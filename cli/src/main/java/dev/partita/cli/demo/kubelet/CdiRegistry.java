package dev.partita.cli.demo.kubelet;

import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiJson;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The CDI devices that the files of a folder define, as a container runtime sees them when it creates a container. */
public final class CdiRegistry {
  /** One device and the file and spec that define it. */
  private record Definition(Path file, CdiSpec spec, CdiDevice device) {}

  private final Map<String, Definition> definitions = new TreeMap<>();

  private CdiRegistry() {}

  /**
   * Reads every {@code *.json} of a folder; one that is not there has none.
   *
   * @throws IOException if a file is not a valid CDI spec, or two of them define the same device
   */
  public static CdiRegistry read(Path folder) throws IOException {
    CdiRegistry registry = new CdiRegistry();
    for (Path file : specFiles(folder)) {
      CdiSpec spec = CdiJson.read(Files.readAllBytes(file), file.toString());
      for (CdiDevice device : spec.devices()) {
        String id = spec.kind().idOf(device.name());
        Definition other = registry.definitions.putIfAbsent(id, new Definition(file, spec, device));
        if (other != null) {
          throw new IOException("CDI device " + id + " is defined by both " + other.file() + " and " + file);
        }
      }
    }
    return registry;
  }

  /** The spec files of a folder, sorted. */
  public static List<Path> specFiles(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    }
  }

  /**
   * What a container with these devices is changed by: for each device in turn its spec's own edits, once a spec, and
   * then the device's.
   *
   * @throws IOException if no file defines one of them
   */
  public ContainerEdits editsFor(List<String> ids) throws IOException {
    Set<Path> specs = new HashSet<>();
    ContainerEdits edits = ContainerEdits.NONE;
    for (String id : ids) {
      Definition definition = definition(id);
      if (specs.add(definition.file())) {
        edits = edits.then(definition.spec().containerEdits());
      }
      edits = edits.then(definition.device().containerEdits());
    }
    return edits;
  }

  /** The file that defines a device. */
  public Path fileOf(String id) throws IOException {
    return definition(id).file();
  }

  private Definition definition(String id) throws IOException {
    Definition definition = definitions.get(id);
    if (definition == null) {
      throw new IOException("unresolvable CDI device " + id + ": the folder defines " + definitions.keySet());
    }
    return definition;
  }
}
