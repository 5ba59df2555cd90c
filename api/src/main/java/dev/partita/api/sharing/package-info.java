/** How a claim has its card. */
@NullMarked
package dev.partita.api.sharing;

import org.jspecify.annotations.NullMarked;
