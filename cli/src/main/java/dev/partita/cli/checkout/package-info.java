/**
 * What a checkout of the project holds once it is built, the programs that work on it, and how their steps are told.
 */
@NullMarked
package dev.partita.cli.checkout;

import org.jspecify.annotations.NullMarked;
