/** {@code partita release}: everything that a release is, in one folder. */
@NullMarked
package dev.partita.cli.release;

import org.jspecify.annotations.NullMarked;
