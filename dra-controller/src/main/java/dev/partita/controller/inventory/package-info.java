/** What the cluster has: nodes, cards, and the devices that each card is offered as. Pure. */
@NullMarked
package dev.partita.controller.inventory;

import org.jspecify.annotations.NullMarked;
