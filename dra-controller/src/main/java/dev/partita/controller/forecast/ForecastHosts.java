package dev.partita.controller.forecast;

import dev.partita.controller.index.HostState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the forecast's hosts by position, in the order in which they were added. Hosts that are equal make a group, so
 * that a decision looks at each group and not at each host: of 5,000 hosts most are as empty as others. For one thread.
 */
final class ForecastHosts {
  private final List<HostState> hostStates = new ArrayList<>();
  private final List<Group> groupOf = new ArrayList<>();
  private final Map<String, Integer> positions = new HashMap<>();
  private final Map<FreeParts, Integer> empty = new HashMap<>();
  private final Map<ForecastHost, Group> groups = new HashMap<>();
  private final List<@Nullable Group> byNumber = new ArrayList<>();
  private final Deque<Integer> unused = new ArrayDeque<>();
  private long[] versions = {};
  private int[] firsts = {};
  private long lastVersion;

  /** Hosts that are equal, by position. */
  private record Group(int number, ForecastHost host, NavigableSet<Integer> positions) {}

  void clear() {
    hostStates.clear();
    groupOf.clear();
    positions.clear();
    empty.clear();
    groups.clear();
    byNumber.clear();
    unused.clear();
  }

  void add(HostState hostState, ForecastHost host) {
    int position = hostStates.size();
    positions.put(hostState.host().name(), position);
    hostStates.add(hostState);
    empty.merge(host.empty(), 1, Integer::sum);
    groupOf.add(join(position, host));
  }

  void replace(int position, HostState hostState, ForecastHost host) {
    hostStates.set(position, hostState);
    Group before = groupOf.get(position);
    if (before.host().equals(host)) {
      return;
    }
    empty.merge(before.host().empty(), -1, (count, less) -> count + less == 0 ? null : count + less);
    empty.merge(host.empty(), 1, Integer::sum);
    before.positions().remove(position);
    if (before.positions().isEmpty()) {
      groups.remove(before.host());
      byNumber.set(before.number(), null);
      versions[before.number()] = ++lastVersion;
      unused.push(before.number());
    } else {
      firsts[before.number()] = before.positions().first();
    }
    groupOf.set(position, join(position, host));
  }

  private Group join(int position, ForecastHost host) {
    Group group = groups.computeIfAbsent(host, this::group);
    group.positions().add(position);
    firsts[group.number()] = group.positions().first();
    return group;
  }

  private Group group(ForecastHost host) {
    int number = unused.isEmpty() ? byNumber.size() : unused.pop();
    Group group = new Group(number, host, new TreeSet<>());
    if (number == byNumber.size()) {
      byNumber.add(group);
      versions = number < versions.length ? versions : Arrays.copyOf(versions, Math.max(64, 2 * number));
      firsts = number < firsts.length ? firsts : Arrays.copyOf(firsts, Math.max(64, 2 * number));
    } else {
      byNumber.set(number, group);
    }
    versions[number] = ++lastVersion;
    return group;
  }

  /** All numbers of groups are below this one. */
  int groups() {
    return byNumber.size();
  }

  /** What the hosts of the group with that number are; null if there is none now. */
  @Nullable
  ForecastHost group(int number) {
    @Nullable Group group = byNumber.get(number);
    return group == null ? null : group.host();
  }

  /** The version of that number: it changes when the number goes to another group. */
  long version(int number) {
    return versions[number];
  }

  /** Position of the first host of the group with that number. */
  int first(int number) {
    return firsts[number];
  }

  /** Position of the next host of the group after that one; negative if there is none. */
  int next(int number, int position) {
    @Nullable Integer next = Objects.requireNonNull(byNumber.get(number)).positions().higher(position);
    return next == null ? -1 : next;
  }

  HostState hostState(int position) {
    return hostStates.get(position);
  }

  ForecastHost host(int position) {
    return groupOf.get(position).host();
  }

  /** Negative if there is no such host. */
  int position(String name) {
    return positions.getOrDefault(name, -1);
  }

  /** How many hosts there are of which state when nothing is taken. */
  Map<FreeParts, Integer> empty() {
    return Collections.unmodifiableMap(empty);
  }
}
