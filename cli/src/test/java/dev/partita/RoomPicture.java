package dev.partita;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Draws which room of a module uses which, as a Mermaid flowchart. An arrow that follows from others is left out: of
 * {@code a --> b --> c} and {@code a --> c} the last one is. The root, which uses all, is not drawn.
 */
record RoomPicture(JavaClasses classes, Rooms rooms) {
  String mermaid() {
    Map<String, Set<String>> uses = uses();
    StringBuilder picture = new StringBuilder("```mermaid\nflowchart TD\n");
    uses.forEach((room, used) -> picture.append("  ").append(room).append(arrows(uses, used)).append('\n'));
    return picture.append("```\n").toString();
  }

  private static String arrows(Map<String, Set<String>> uses, Set<String> used) {
    String to = used.stream()
        .filter(room -> used.stream().noneMatch(between -> reaches(uses, between, room)))
        .collect(Collectors.joining(" & "));
    return to.isEmpty() ? "" : " --> " + to;
  }

  private Map<String, Set<String>> uses() {
    Map<String, Set<String>> uses = new TreeMap<>();
    for (JavaClass type : classes) {
      String room = drawn(type);
      if (!room.isEmpty()) {
        Set<String> used = uses.computeIfAbsent(room, _ -> new TreeSet<>());
        type.getDirectDependenciesFromSelf().stream()
            .map(dependency -> drawn(dependency.getTargetClass().getBaseComponentType()))
            .filter(other -> !other.isEmpty() && !other.equals(room))
            .forEach(used::add);
      }
    }
    return uses;
  }

  private String drawn(JavaClass type) {
    String room = rooms.roomOf(type);
    return room.equals(Rooms.ROOT) ? "" : room;
  }

  private static boolean reaches(Map<String, Set<String>> uses, String from, String to) {
    Set<String> used = uses.getOrDefault(from, Set.of());
    return used.contains(to) || used.stream().anyMatch(next -> reaches(uses, next, to));
  }
}
