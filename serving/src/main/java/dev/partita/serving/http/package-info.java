/** What all of this process's HTTP servers have in common. */
@NullMarked
package dev.partita.serving.http;

import org.jspecify.annotations.NullMarked;
