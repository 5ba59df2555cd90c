package dev.partita.controller.request;

/**
 * CPU and memory that a pod requests of its node.
 *
 * @param milliCpu thousandths of a CPU
 * @param memory bytes
 */
public record PodNeeds(long milliCpu, long memory) {
  public static final PodNeeds NONE = new PodNeeds(0, 0);

  public boolean isNothing() {
    return milliCpu <= 0 && memory <= 0;
  }
}
