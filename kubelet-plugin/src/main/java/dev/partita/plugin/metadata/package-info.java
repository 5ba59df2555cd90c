/** What containers are told of their devices, in files as Kubernetes' device metadata (KEP-5304) has them. */
@NullMarked
package dev.partita.plugin.metadata;

import org.jspecify.annotations.NullMarked;
