/** The records of prepared claims, which survive a crash. */
@NullMarked
package dev.partita.plugin.checkpoint;

import org.jspecify.annotations.NullMarked;
