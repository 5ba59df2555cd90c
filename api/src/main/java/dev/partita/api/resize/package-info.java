/** Resizes of shares in use: what is asked for, what is granted, and how both are written. */
@NullMarked
package dev.partita.api.resize;

import org.jspecify.annotations.NullMarked;
