/** Who leads when several controllers run. */
@NullMarked
package dev.partita.controller.leader;

import org.jspecify.annotations.NullMarked;
