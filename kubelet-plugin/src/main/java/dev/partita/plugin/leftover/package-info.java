/** State that no claim needs any more, found and removed. */
@NullMarked
package dev.partita.plugin.leftover;

import org.jspecify.annotations.NullMarked;
