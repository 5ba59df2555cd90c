/** The fleet's figures of the last day, sampled by every instance and kept in the cluster by the one that leads. */
@NullMarked
package dev.partita.controller.history;

import org.jspecify.annotations.NullMarked;
