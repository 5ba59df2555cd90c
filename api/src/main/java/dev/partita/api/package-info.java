/** Names that every part of Partita and every user holds on to: the driver, its devices, attributes and classes. */
@NullMarked
package dev.partita.api;

import org.jspecify.annotations.NullMarked;
