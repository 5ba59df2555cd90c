/** Why pods wait, in full, for those who may ask. */
@NullMarked
package dev.partita.controller.explain;

import org.jspecify.annotations.NullMarked;
