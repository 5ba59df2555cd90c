package dev.partita;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The rooms of a module: the packages directly below its root with all that is in them, and the root's own classes.
 *
 * @param module the last part of the root's name, such as {@code plugin} of {@code dev.partita.plugin}
 */
record Rooms(String module) implements SliceAssignment {
  /** Stands for the root's own classes. */
  static final String ROOT = "(root)";

  /** The room of a class; empty if it is not of this module. */
  String roomOf(JavaClass type) {
    String root = "dev.partita." + module;
    String name = type.getPackageName();
    if (name.equals(root)) {
      return ROOT;
    }
    return name.startsWith(root + ".") ? name.substring(root.length() + 1).split("\\.", 2)[0] : "";
  }

  /** All but the root. */
  Set<String> all(JavaClasses classes) {
    return classes.stream().map(this::roomOf).filter(room -> !room.isEmpty() && !room.equals(ROOT))
        .collect(Collectors.toSet());
  }

  @Override
  public SliceIdentifier getIdentifierOf(JavaClass type) {
    String room = roomOf(type);
    return room.isEmpty() ? SliceIdentifier.ignore() : SliceIdentifier.of(room);
  }

  @Override
  public String getDescription() {
    return "rooms of " + module;
  }
}
