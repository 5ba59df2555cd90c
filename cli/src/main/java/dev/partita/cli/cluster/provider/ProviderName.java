package dev.partita.cli.cluster.provider;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Where a cluster comes from. */
public enum ProviderName {
  /** A lab that makes a real cluster on this machine: the script that {@code $KUBE_LAB} names. */
  LAB,
  /** k3s in Docker containers. */
  K3S,
  /** The cluster of the current kubeconfig, which is used and left standing. */
  CURRENT;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  static String all() {
    return Arrays.stream(values()).map(ProviderName::toString).collect(Collectors.joining(", "));
  }
}
