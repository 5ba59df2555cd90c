package dev.partita.cli.images;

import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.Subprocess;
import dev.partita.cli.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Lays out what a release's images hold for a processor: with hook libraries that run on old C libraries, whatever this
 * machine has, and with a Java runtime of that processor.
 *
 * @param checkout the project's folder, whose jars are built
 * @param environment of this process; it names JDKs of other processors
 */
public record Staging(Path checkout, Map<String, String> environment) {
  public Staging {
    environment = Map.copyOf(environment);
  }

  /**
   * Says at once what would fail after minutes.
   *
   * @throws CommandFailure if something is missing that a person must provide
   */
  public void check(Processor processor) {
    Path compiler =
        Path.of(environment.getOrDefault("PARTITA_OUTSIDE", checkout.resolve("hook-lib/target/outside").toString()))
            .resolve("compiler");
    if (!Files.isDirectory(compiler)) {
      throw CommandFailure.usage(
          "the compiler of portable hook libraries is not here: 'sh hook-lib/build.sh fetch compiler' gets it");
    }
    String variable = variable(processor);
    Path jdk = Path.of(environment.getOrDefault(variable, ""));
    if (processor != Processor.here() && !Files.isDirectory(jdk.resolve("jmods"))) {
      throw CommandFailure.usage(
          "a Java runtime for %s needs a JDK for it, of this machine's version: set %s to its folder, which has jmods/"
              .formatted(processor, variable));
    }
  }

  private static String variable(Processor processor) {
    return "PARTITA_JDK_" + processor.architecture().toUpperCase(Locale.ROOT);
  }

  /** Lays them out; gives the folder, with one folder an image. */
  public Path layOut(Processor processor, Progress progress) {
    check(processor);
    progress.step("hook libraries for " + processor);
    String target = processor.machine() + "-gnu";
    Subprocess.must("sh", checkout.resolve("hook-lib/build.sh").toString(), "release", target);
    progress.step("laying out what the images for %s hold".formatted(processor));
    Path images = checkout.resolve("deploy/target/release-images/" + processor);
    Map<String, String> settings = new HashMap<>();
    settings.put("PARTITA_PROCESSOR", processor.architecture());
    settings.put("PARTITA_IMAGES", images.toString());
    settings.put("PARTITA_HOOK_DIST", checkout.resolve("hook-lib/target/dist-release/" + target).toString());
    Subprocess.must(settings, List.of("bash", checkout.resolve("deploy/image/stage.sh").toString()));
    return images;
  }
}
