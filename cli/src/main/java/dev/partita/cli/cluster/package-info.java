/** {@code partita cluster}: a real cluster with Partita installed, from a provider of clusters. */
@NullMarked
package dev.partita.cli.cluster;

import org.jspecify.annotations.NullMarked;
