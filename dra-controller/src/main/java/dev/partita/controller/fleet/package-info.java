/** What the API says of cards and of what claims have of them, as people look at it. */
@NullMarked
package dev.partita.controller.fleet;

import org.jspecify.annotations.NullMarked;
