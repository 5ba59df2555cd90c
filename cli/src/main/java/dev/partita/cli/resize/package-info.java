/** {@code partita resize}: gives a share another size while programs use it. */
@NullMarked
package dev.partita.cli.resize;

import org.jspecify.annotations.NullMarked;
