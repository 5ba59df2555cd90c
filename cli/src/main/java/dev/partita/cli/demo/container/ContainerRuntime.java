package dev.partita.cli.demo.container;

import java.io.IOException;

/** Creates containers from what kubelet asks for. */
public interface ContainerRuntime {
  /**
   * Creates a container on this machine's own programs and libraries, with a spec's environment, devices and mounts.
   *
   * @param name unique among this runtime's containers
   */
  Container create(String name, ContainerSpec spec) throws IOException;

  /** How containers are kept apart, in one sentence for people. */
  String description();
}
