package dev.partita.cli.demo;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.demo.container.ContainerRuntime;
import dev.partita.cli.demo.container.LibraryPathRuntime;
import dev.partita.cli.demo.container.NamespaceRuntime;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** How the demo keeps its containers apart; the constants are spelt as a user writes them. */
enum Isolation {
  /** Namespaces where this machine allows them, else the library path. */
  AUTO,
  NAMESPACES,
  LIBRARY_PATH;

  /** What runs containers, and what to tell the reader about it. */
  record Choice(ContainerRuntime runtime, String remark) {}

  /**
   * @param folder where containers are made
   * @throws CommandFailure if namespaces were asked for and this machine does not allow them
   */
  Choice choose(Path folder) throws IOException, InterruptedException {
    ContainerRuntime fallback = new LibraryPathRuntime(folder);
    if (this == LIBRARY_PATH) {
      return new Choice(fallback, "Containers: " + fallback.description() + ".");
    }
    NamespaceRuntime namespaces = new NamespaceRuntime(folder);
    Optional<String> obstacle = namespaces.obstacle();
    if (obstacle.isEmpty()) {
      return new Choice(namespaces, "Containers: " + namespaces.description() + ".");
    }
    if (this == NAMESPACES) {
      throw CommandFailure
          .usage("containers cannot have namespaces here (" + obstacle.get() + "): use --isolation library-path");
    }
    return new Choice(
        fallback,
        "Containers cannot have namespaces here (" + obstacle.get() + ").\nInstead they have: " + fallback.description()
            + ".");
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
