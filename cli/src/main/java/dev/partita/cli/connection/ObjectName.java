package dev.partita.cli.connection;

import dev.partita.cli.command.CommandFailure;
import java.util.regex.Pattern;

/**
 * The name of an object or a namespace in a command line: what <a
 * href="https://kubernetes.io/docs/concepts/overview/working-with-objects/names/">Kubernetes takes</a>. Another one
 * would be a path of its own in the address of a request.
 */
public final class ObjectName {
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

  private ObjectName() {}

  /**
   * The same text.
   *
   * @throws CommandFailure if it is none
   */
  public static String checked(String text) {
    if (NAME.matcher(text).matches()) {
      return text;
    }
    throw CommandFailure.usage(
        "'" + text + "' is no name: names have small letters, digits, '-' and '.', such as train-gpu-x7k2p");
  }
}
