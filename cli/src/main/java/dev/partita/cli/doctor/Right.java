package dev.partita.cli.doctor;

import java.util.List;

/**
 * Something that a command needs the user's right for.
 *
 * @param verb such as list
 * @param group API group; empty for the core one
 * @param resource with its subresource, such as pods/log
 * @param inPartita whether it is needed in Partita's namespace only
 * @param commands who needs it
 */
record Right(String verb, String group, String resource, boolean inPartita, List<String> commands) {
  Right {
    commands = List.copyOf(commands);
  }

  @Override
  public String toString() {
    return verb + " " + resource + (group.isEmpty() ? "" : "." + group);
  }
}
