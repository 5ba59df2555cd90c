package dev.partita.cdi;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One CDI spec: devices of one kind, and edits that a container gets with any of them.
 *
 * @param version the CDI version that a reader must know
 * @param kind vendor and class
 * @param annotations for people and for the writer; they do not reach the container
 * @param devices at least one, with different names
 * @param containerEdits applied once, if any of the devices is injected
 */
public record CdiSpec(
    String version,
    CdiKind kind,
    SortedMap<String, String> annotations,
    List<CdiDevice> devices,
    ContainerEdits containerEdits) {

  /** The version that these records describe: containerd 1.7 and newer read it. */
  public static final String VERSION = "0.8.0";

  public CdiSpec {
    annotations = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(annotations));
    devices = List.copyOf(devices);
  }

  public static CdiSpec of(
      CdiKind kind,
      Map<String, String> annotations,
      List<CdiDevice> devices,
      ContainerEdits containerEdits) {
    return new CdiSpec(VERSION, kind, new TreeMap<>(annotations), devices, containerEdits);
  }
}
