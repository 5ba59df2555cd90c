/** Who may read what is served: whose a bearer token is, and what its user may. */
@NullMarked
package dev.partita.serving.access;

import org.jspecify.annotations.NullMarked;
