/** Runs what the pages tell a reader to type, and compares what comes out with what they show. */
@NullMarked
package dev.partita.e2e.pages;

import org.jspecify.annotations.NullMarked;
