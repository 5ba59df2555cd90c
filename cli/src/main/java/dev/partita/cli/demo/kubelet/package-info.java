/** The part of kubelet that DRA drivers see, and the CDI devices that a container runtime finds; nothing of GPUs. */
@NullMarked
package dev.partita.cli.demo.kubelet;

import org.jspecify.annotations.NullMarked;
