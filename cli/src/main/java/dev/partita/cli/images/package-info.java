/** {@code partita images}: container images out of what the build laid out, without a container daemon. */
@NullMarked
package dev.partita.cli.images;

import org.jspecify.annotations.NullMarked;
