/** {@code partita report}: claims that hold far more memory than they ever used, and what the fleet would gain. */
@NullMarked
package dev.partita.cli.rightsizing;

import org.jspecify.annotations.NullMarked;
