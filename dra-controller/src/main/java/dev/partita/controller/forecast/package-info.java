/** What later pods are expected to ask for, and where a pod takes least from them. */
@NullMarked
package dev.partita.controller.forecast;

import org.jspecify.annotations.NullMarked;
