package dev.partita.cli.connection;

import picocli.CommandLine.Option;

/** Where Partita itself runs. */
public final class PartitaNamespaceOption {
  @Option(
      names = "--partita-namespace",
      paramLabel = "NAME",
      defaultValue = "partita-system",
      description = "Namespace of Partita's own pods. Default: ${DEFAULT-VALUE}.") private String name = "";

  /** The namespace's name. */
  public String name() {
    return ObjectName.checked(name);
  }
}
