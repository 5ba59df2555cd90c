/**
 * Black-box tests against a real cluster. What they know of Partita is its command line, its API objects and its
 * contract.
 */
@NullMarked
package dev.partita.e2e;

import org.jspecify.annotations.NullMarked;
