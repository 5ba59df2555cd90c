package dev.partita.cli.demo;

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
      "  partita demo --isolation library-path   as on a machine that allows no user namespaces",
      "  partita demo --keep                     leaves CDI files, quotas and log to be looked at"
    })
public final class DemoCommand implements Callable<Integer> {
  @Option(
      names = "--isolation",
      paramLabel = "WAY",
      defaultValue = "auto",
      converter = IsolationConverter.class,
      description = {
        "How the demo's containers are kept apart: 'namespaces' (real bind mounts, by unshare), 'library-path' "
            + "(folders of links and LD_LIBRARY_PATH), or 'auto': namespaces where this machine allows them. Default: auto."
      })
  private Isolation isolation;

  @Option(names = "--keep", description = "Leave the demo's folder (below $TMPDIR or /tmp) in place, and say where it is.")
  private boolean keep;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Distribution distribution = Distribution.find();
    Opened opened = new Opened();
    Thread onInterrupt = new Thread(opened::close, "demo-clean-up");
    Runtime.getRuntime().addShutdownHook(onInterrupt);
    try {
      DemoFolder folder = opened.add(DemoFolder.create(keep));
      // JNA unpacks its native part here, and not in the user's home.
      System.setProperty("jna.tmpdir", folder.path().toString());
      opened.add(new DemoLog(folder.log()));
      Isolation.Choice containers = isolation.choose(folder.path().resolve("containers"));
      return tell(opened, folder, distribution, containers);
    } finally {
      opened.close();
      forget(onInterrupt);
    }
  }

  private int tell(Opened opened, DemoFolder folder, Distribution distribution, Isolation.Choice containers)
      throws InterruptedException {
    Instant start = Instant.now();
    Screen screen = Screen.standard();
    Demo demo = opened.add(new Demo(screen, folder.path(), distribution, containers));
    demo.tell();
    Observations observations = demo.observations();
    demo.close();
    String count = observations.count() + " of " + Observation.values().length + " observations";
    double seconds = Duration.between(start, Instant.now()).toMillis() / 1000.0;
    if (observations.allMade()) {
      screen.end(true, "%s, in %.0f s.".formatted(count, seconds));
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

  private static void forget(Thread onInterrupt) {
    try {
      Runtime.getRuntime().removeShutdownHook(onInterrupt);
    } catch (IllegalStateException e) {
      // It is running: the user pressed Ctrl-C.
    }
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
