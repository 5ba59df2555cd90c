/** Which pods to evict so that another one finds a place. */
@NullMarked
package dev.partita.controller.preempt;

import org.jspecify.annotations.NullMarked;
