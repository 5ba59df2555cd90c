/**
 * What stands around Partita in a cluster, as thin as it can honestly be: an API server, the parts of
 * kube-controller-manager and kube-scheduler that handle claims, kubelet, and a container runtime that applies CDI.
 * None of it knows anything of GPUs or of Partita's insides; it talks to controller and plugin through the API and over
 * unix sockets, as the real ones do.
 */
@NullMarked
package dev.partita.cli.demo.harness;

import org.jspecify.annotations.NullMarked;
