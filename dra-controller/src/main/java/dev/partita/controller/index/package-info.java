/** The hosts in the order in which requests would take them, so that the best one is looked up and not searched for. */
@NullMarked
package dev.partita.controller.index;

import org.jspecify.annotations.NullMarked;
