/** Calls to the API server, with the policy for repeating them. */
@NullMarked
package dev.partita.plugin.kube;

import org.jspecify.annotations.NullMarked;
