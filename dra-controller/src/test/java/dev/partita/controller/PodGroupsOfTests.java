package dev.partita.controller;

import dev.partita.controller.gang.PodGroup;

/** Makes PodGroups for tests. */
public final class PodGroupsOfTests {
  private PodGroupsOfTests() {}

  /** One whose pods are a gang. */
  public static PodGroup gang(String namespace, String name, int minCount) {
    return with(namespace, name, new PodGroup.SchedulingPolicy(new PodGroup.GangPolicy(minCount)));
  }

  /** One that says nothing of a gang. */
  public static PodGroup basic(String namespace, String name) {
    return with(namespace, name, new PodGroup.SchedulingPolicy(null));
  }

  private static PodGroup with(String namespace, String name, PodGroup.SchedulingPolicy policy) {
    PodGroup group = new PodGroup();
    group.getMetadata().setNamespace(namespace);
    group.getMetadata().setName(name);
    group.setSpec(new PodGroup.Spec(policy));
    return group;
  }
}
