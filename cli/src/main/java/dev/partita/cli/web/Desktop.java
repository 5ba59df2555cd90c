package dev.partita.cli.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Opens an address in the desktop's browser. */
final class Desktop {
  private Desktop() {}

  /** Does nothing where there is no desktop, or no program that opens addresses: the address was printed. */
  static void open(String address) {
    boolean mac = System.getProperty("os.name", "").startsWith("Mac");
    boolean graphical = System.getenv("DISPLAY") != null || System.getenv("WAYLAND_DISPLAY") != null;
    if (!mac && !graphical) {
      return;
    }
    try {
      Path page = page(Path.of(System.getProperty("user.home"), ".cache", "partita"), address);
      new ProcessBuilder(mac ? "open" : "xdg-open", page.toString()).redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException e) {
      // no such program, or nowhere to write
    }
  }

  /**
   * A file that leads to the address, which the user alone can read: the arguments of a program are shown to everybody
   * on the machine, and the address holds a token. It is deleted when this program ends.
   */
  static Path page(Path folder, String address) throws IOException {
    Files.createDirectories(folder);
    Path page = Files.createTempFile(folder, "open-", ".html",
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    page.toFile().deleteOnExit();
    return Files.writeString(page,
        "<!doctype html><meta charset=utf-8><title>Partita</title><meta http-equiv=refresh content=\"0;url=" + address
            + "\">\n");
  }
}
