/** What a shell and {@code man} know of the program, made from its own commands and options. */
@NullMarked
package dev.partita.cli.shell;

import org.jspecify.annotations.NullMarked;
