/**
 * Partita beside other people's programs that are built for minutes (hook-lib/outside), or with what a cluster has only
 * if it is switched on: these tests run only where they are named.
 */
@NullMarked
package dev.partita.e2e.outside;

import org.jspecify.annotations.NullMarked;
