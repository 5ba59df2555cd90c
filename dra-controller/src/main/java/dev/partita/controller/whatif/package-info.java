/**
 * Answers questions about a cluster as it was at one moment, with what the controller decides by: what would fit, and
 * what if there were more nodes or smaller shares. Nothing is written to the cluster.
 */
@NullMarked
package dev.partita.controller.whatif;

import org.jspecify.annotations.NullMarked;
