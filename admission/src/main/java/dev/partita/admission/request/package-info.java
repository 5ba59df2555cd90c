/** What a container asks of cards, in Partita's own terms, whatever dialect it asked in. Values; pure. */
@NullMarked
package dev.partita.admission.request;

import org.jspecify.annotations.NullMarked;
