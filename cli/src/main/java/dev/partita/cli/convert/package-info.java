/** {@code partita convert}: files of pods that ask in other systems' ways, to claims. */
@NullMarked
package dev.partita.cli.convert;

import org.jspecify.annotations.NullMarked;
