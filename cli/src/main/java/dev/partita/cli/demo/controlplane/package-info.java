/**
 * What a real control plane does for claims, as thin as it can honestly be: an API server, and the parts of
 * kube-controller-manager and kube-scheduler that handle claims. None of it knows of GPUs or of Partita's insides.
 */
@NullMarked
package dev.partita.cli.demo.controlplane;

import org.jspecify.annotations.NullMarked;
