/** The program {@code partita}: its top command and what its commands share. */
@NullMarked
package dev.partita.cli;

import org.jspecify.annotations.NullMarked;
