package dev.partita.cli.connection;

import dev.partita.api.DnsName;
import dev.partita.cli.command.CommandFailure;

/**
 * The name of an object or a namespace in a command line: what <a
 * href="https://kubernetes.io/docs/concepts/overview/working-with-objects/names/">Kubernetes takes</a>. Another one
 * would be a path of its own in the address of a request.
 */
public final class ObjectName {
  private ObjectName() {}

  /**
   * The same text.
   *
   * @throws CommandFailure if it is none
   */
  public static String checked(String text) {
    if (DnsName.isSubdomain(text)) {
      return text;
    }
    throw CommandFailure.usage(
        "'" + text + "' is no name: names have small letters, digits, '-' and '.', such as train-gpu-x7k2p");
  }
}
