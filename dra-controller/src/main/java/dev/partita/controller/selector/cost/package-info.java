/** What an expression may cost: its size before it is compiled, and each call while it is evaluated. */
@NullMarked
package dev.partita.controller.selector.cost;

import org.jspecify.annotations.NullMarked;
