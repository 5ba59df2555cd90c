/** Whether a card can serve a request, and if not, why; what each sharing strategy means to the controller. */
@NullMarked
package dev.partita.controller.match;

import org.jspecify.annotations.NullMarked;
