package dev.partita.cli.images;

import dev.partita.cli.command.CommandFailure;
import java.util.Locale;
import java.util.stream.Stream;

/** A processor that images are for, by the names that image configurations have (Go's GOARCH). */
public enum Processor {
  AMD64("amd64", "x86_64"), ARM64("arm64", "aarch64");

  private final String architecture;
  private final String machine;

  Processor(String architecture, String machine) {
    this.architecture = architecture;
    this.machine = machine;
  }

  /** Its name in image configurations. */
  public String architecture() {
    return architecture;
  }

  /** Its name as {@code uname -m} says it, which compilers use. */
  public String machine() {
    return machine;
  }

  /** This machine's. */
  public static Processor here() {
    String name = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    return Stream.of(values()).filter(each -> each.architecture.equals(name) || each.machine.equals(name)).findFirst()
        .orElseThrow(() -> CommandFailure.usage("there are no images for this machine's processor, " + name));
  }

  @Override
  public String toString() {
    return architecture;
  }
}
