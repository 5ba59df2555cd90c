/** Pods that ask in another system's way to pods that refer to ResourceClaimTemplates. Pure. */
@NullMarked
package dev.partita.admission.convert;

import org.jspecify.annotations.NullMarked;
