/** The policy for repeating calls to the API server. */
@NullMarked
package dev.partita.plugin.kube;

import org.jspecify.annotations.NullMarked;
