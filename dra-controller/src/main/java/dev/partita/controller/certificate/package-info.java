/** The webhook's certificate: made and renewed by the leader, read by everybody, never logged. */
@NullMarked
package dev.partita.controller.certificate;

import org.jspecify.annotations.NullMarked;
