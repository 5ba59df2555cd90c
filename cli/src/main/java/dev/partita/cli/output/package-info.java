/** How commands that show objects say them: tables as kubectl's, JSON, YAML, and redrawn in place in a terminal. */
@NullMarked
package dev.partita.cli.output;

import org.jspecify.annotations.NullMarked;
