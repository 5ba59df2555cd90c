/** Maps that hold a fixed number of entries. */
@NullMarked
package dev.partita.controller.lru;

import org.jspecify.annotations.NullMarked;
