/** What controllers propose on claims before they allocate them, and how far the proposals of others count. */
@NullMarked
package dev.partita.controller.proposal;

import org.jspecify.annotations.NullMarked;
