package dev.partita.cli.demo;

import dev.partita.cli.demo.cluster.Distribution;
import dev.partita.cli.demo.cluster.Opened;
import dev.partita.cli.demo.screen.Observation;
import dev.partita.cli.demo.screen.Observations;
import dev.partita.cli.demo.screen.Screen;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code partita demo}. */
@Command(
    name = "demo",
    description = {
      "Shows on this machine how pods share GPUs with Partita, in under a minute: no GPU, no cluster, no root needed.",
      "",
      "Real here: the controller, the node plugin, the CDI files it writes, and the libraries that hold a container to its share. "
          + "Simulated: the GPUs (libraries where the driver's would be), the API server (in memory), and what kubelet, "
          + "kube-scheduler, kube-controller-manager and containerd do."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:everything that the demo shows was observed",
      "1:something was not: the list at the end says what",
      "2:it cannot run this way: one line says what to change"
    },
    footer = {
      "",
      "Examples:",
      "  partita demo",
      "  partita demo --isolation library-path   (without user namespaces)",
      "  partita demo --keep                     (leaves CDI files and log)"
    })
public final class DemoCommand implements Callable<Integer> {
  /** As shells have it for SIGINT; nobody sees it, since the process is ending. */
  private static final int INTERRUPTED = 130;

  @Option(
      names = "--isolation",
      paramLabel = "WAY",
      defaultValue = "auto",
      converter = IsolationConverter.class,
      description = {
        "How the demo's containers are kept apart: 'namespaces' (real bind mounts, by unshare), 'library-path' "
            + "(folders of links and LD_LIBRARY_PATH), or 'auto': namespaces where this machine allows them. Default: auto."
      }) private Isolation isolation;

  @Option(names = "--keep",
      description = "Leave the demo's folder (below $TMPDIR or /tmp) in place, and say where it is.") private boolean keep;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Distribution distribution = Distribution.find();
    Screen screen = Screen.standard();
    Opened opened = new Opened();
    try (Interruption interruption = new Interruption(screen::mute)) {
      try {
        DemoFolder folder = opened.add(DemoFolder.create(keep));
        // JNA unpacks its native part here, and not in the user's home.
        System.setProperty("jna.tmpdir", folder.path().toString());
        opened.add(new DemoLog(folder.log()));
        Isolation.Choice containers = isolation.choose(folder.path().resolve("containers"));
        Instant start = Instant.now();
        Demo demo = opened.add(new Demo(screen, folder.path(), distribution, containers));
        demo.tell();
        if (interruption.happened()) {
          return INTERRUPTED;
        }
        demo.close();
        return report(screen, folder, demo.observations(), Duration.between(start, Instant.now()));
      } finally {
        // An interrupted thread could not wait for what it ends.
        boolean _ = Thread.interrupted();
        opened.close();
      }
    }
  }

  private static int report(Screen screen, DemoFolder folder, Observations observations, Duration took) {
    String count = observations.count() + " of " + Observation.values().length + " observations";
    if (observations.allMade()) {
      screen.end(true, "%s, in %.0f s.".formatted(count, took.toMillis() / 1000.0));
      screen.line("On a real cluster: ./partita cluster up --nodes 2 --gpus h200x4");
    } else {
      folder.keep();
      screen.end(false, count + ". Not observed:");
      observations.missing().forEach(line -> screen.line("  - " + line));
      screen.line("The log of controller and plugins: " + folder.log());
    }
    if (folder.isKept()) {
      screen.line("Kept: " + folder.path());
    }
    return observations.allMade() ? 0 : 1;
  }

  /** Reads the name of an {@link Isolation}. */
  static final class IsolationConverter implements ITypeConverter<Isolation> {
    @Override
    public Isolation convert(String value) {
      return Stream.of(Isolation.values())
          .filter(way -> way.toString().equals(value))
          .findFirst()
          .orElseThrow(() -> new TypeConversionException("'" + value + "' is none of auto, namespaces, library-path"));
    }
  }
}
