/** What the API server says now, kept by informers, and the events that say that it changed. */
@NullMarked
package dev.partita.controller.watch;

import org.jspecify.annotations.NullMarked;
