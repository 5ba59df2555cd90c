/** Events as Partita's programs write them. */
@NullMarked
package dev.partita.api.event;

import org.jspecify.annotations.NullMarked;
