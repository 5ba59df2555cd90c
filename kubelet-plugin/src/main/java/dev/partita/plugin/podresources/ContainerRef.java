package dev.partita.plugin.podresources;

/** A container, by the names of its pod and its own. */
public record ContainerRef(String namespace, String pod, String container) {}
