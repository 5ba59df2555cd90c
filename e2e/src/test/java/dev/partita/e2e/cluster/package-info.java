/** The cluster under test: where it comes from, and what tests do with it. */
@NullMarked
package dev.partita.e2e.cluster;

import org.jspecify.annotations.NullMarked;
