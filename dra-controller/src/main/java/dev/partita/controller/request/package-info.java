/** What the claims of a pod ask for, as values. */
@NullMarked
package dev.partita.controller.request;

import org.jspecify.annotations.NullMarked;
