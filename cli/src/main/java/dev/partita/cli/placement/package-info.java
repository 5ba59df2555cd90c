/** {@code partita simulate} and {@code partita bench}: the allocator without a cluster. */
@org.jspecify.annotations.NullMarked
package dev.partita.cli.placement;
