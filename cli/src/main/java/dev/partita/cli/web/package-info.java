/** {@code partita web}: opens the controller's page. */
@NullMarked
package dev.partita.cli.web;

import org.jspecify.annotations.NullMarked;
