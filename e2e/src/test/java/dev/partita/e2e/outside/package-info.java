/**
 * Partita beside other people's programs that are built for minutes (hook-lib/outside): these tests run only where they
 * are named.
 */
@NullMarked
package dev.partita.e2e.outside;

import org.jspecify.annotations.NullMarked;
