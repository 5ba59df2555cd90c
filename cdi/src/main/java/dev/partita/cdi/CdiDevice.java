package dev.partita.cdi;

/**
 * A device that a container can be given.
 *
 * @param name unique in the spec: letters, digits, and {@code _-.:} inside
 * @param containerEdits what a container that gets it is changed by; not empty
 */
public record CdiDevice(String name, ContainerEdits containerEdits) {}
