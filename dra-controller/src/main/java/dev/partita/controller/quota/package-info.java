/** What namespaces may have of the cards together, what they have, and what is too much. */
@NullMarked
package dev.partita.controller.quota;

import org.jspecify.annotations.NullMarked;
