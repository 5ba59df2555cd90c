package dev.partita.controller.gang;

/** Gives what is known of the PodGroups of a cluster. */
@FunctionalInterface
public interface PodGroups {
  PodGroupPolicy policy(GangKey.OfPodGroup group);
}
