/** A card as its node describes it: model, memory, health, topology, MIG, and who else serves it. */
@NullMarked
package dev.partita.api.gpu;

import org.jspecify.annotations.NullMarked;
