/** {@code partita demo}: the whole way of a claim on this machine, with nothing but what the build needs. */
@NullMarked
package dev.partita.cli.demo;

import org.jspecify.annotations.NullMarked;
