/** Providers of clusters (a lab, k3s in Docker, the current kubeconfig), and the record of the one that is up. */
@NullMarked
package dev.partita.cli.cluster.provider;

import org.jspecify.annotations.NullMarked;
