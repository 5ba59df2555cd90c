/** Whether a card can serve a request, and if not, why. */
@NullMarked
package dev.partita.controller.match;

import org.jspecify.annotations.NullMarked;
