/** Opaque device configs of claims and classes, decoded strictly: a misspelt field is an error with its path. */
@NullMarked
package dev.partita.api.config;

import org.jspecify.annotations.NullMarked;
