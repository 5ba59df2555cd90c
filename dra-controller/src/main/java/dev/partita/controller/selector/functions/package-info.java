/** Kubernetes' own CEL functions. */
@NullMarked
package dev.partita.controller.selector.functions;

import org.jspecify.annotations.NullMarked;
