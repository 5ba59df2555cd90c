/**
 * Pods that ask for GPUs in another system's way and were made as they are: which these are and what to do (pure), and
 * telling them.
 */
@NullMarked
package dev.partita.controller.unconverted;

import org.jspecify.annotations.NullMarked;
