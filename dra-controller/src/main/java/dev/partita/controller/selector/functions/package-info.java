/** Kubernetes' own CEL functions, and the values that they know: quantities, addresses, URLs. */
@NullMarked
package dev.partita.controller.selector.functions;

import org.jspecify.annotations.NullMarked;
