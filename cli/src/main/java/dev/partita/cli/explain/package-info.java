/** {@code partita explain}: why a pod or claim waits. */
@org.jspecify.annotations.NullMarked
package dev.partita.cli.explain;
