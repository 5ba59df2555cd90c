package dev.partita.controller.forecast;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The forecast's hosts by position, in the order in which they were added. For one thread. */
final class ForecastHosts {
  private final List<ForecastHost> hosts = new ArrayList<>();
  private final Map<String, Integer> positions = new HashMap<>();
  private final Map<FreeParts, FreeParts> empty = new HashMap<>();
  private int[] versions = {};

  void clear() {
    hosts.clear();
    positions.clear();
    empty.clear();
  }

  void add(ForecastHost host) {
    positions.put(host.hostState().host().name(), hosts.size());
    versions = hosts.size() < versions.length ? versions : Arrays.copyOf(versions, Math.max(64, 2 * hosts.size()));
    versions[hosts.size()] = 0;
    hosts.add(host);
  }

  void replace(int position, ForecastHost host) {
    hosts.set(position, host);
    versions[position]++;
  }

  int size() {
    return hosts.size();
  }

  ForecastHost get(int position) {
    return hosts.get(position);
  }

  /** Another one after every change of the host there. */
  int version(int position) {
    return versions[position];
  }

  /** Negative if there is no such host. */
  int position(String name) {
    return positions.getOrDefault(name, -1);
  }

  /** The one object for all equal ones: few different ones are of many hosts. */
  FreeParts one(FreeParts state) {
    return empty.computeIfAbsent(state, s -> s);
  }
}
