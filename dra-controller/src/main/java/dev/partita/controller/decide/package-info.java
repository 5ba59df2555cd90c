/** What to do about one pod, as things are now: nothing is done here, and nothing is kept but what was found out. */
@NullMarked
package dev.partita.controller.decide;

import org.jspecify.annotations.NullMarked;
