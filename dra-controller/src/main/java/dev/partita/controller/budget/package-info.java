/** How long one decision may take. */
@NullMarked
package dev.partita.controller.budget;

import org.jspecify.annotations.NullMarked;
