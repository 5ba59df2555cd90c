/** The ways in which other systems' pods ask for GPUs, read into Partita's own terms. Pure. */
@NullMarked
package dev.partita.admission.dialect;

import org.jspecify.annotations.NullMarked;
