/** What becomes of a host if pods keep arriving as they did: how much of its cards stays idle once nothing more fits. Pure. */
@org.jspecify.annotations.NullMarked
package dev.partita.controller.allocate.forecast;
