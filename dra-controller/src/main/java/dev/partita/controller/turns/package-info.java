/**
 * Orders the scheduler's decisions: which pod or gang is decided about next, which pods share an answer since they are
 * alike, and which wait because a decision about them failed.
 */
@NullMarked
package dev.partita.controller.turns;

import org.jspecify.annotations.NullMarked;
