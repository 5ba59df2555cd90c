/** Partita's chart in a cluster, and whether what it installed serves. */
@NullMarked
package dev.partita.cli.cluster.install;

import org.jspecify.annotations.NullMarked;
