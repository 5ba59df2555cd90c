/** The values that Kubernetes' own CEL functions know: quantities, addresses, URLs, named formats. */
@NullMarked
package dev.partita.controller.selector.values;

import org.jspecify.annotations.NullMarked;
