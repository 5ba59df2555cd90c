/**
 * Plays written-down work, scenarios and cluster streams, against the allocator: to measure it, and to see how it
 * places.
 */
@org.jspecify.annotations.NullMarked
package dev.partita.controller.replay;
