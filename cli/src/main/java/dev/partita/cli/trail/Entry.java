package dev.partita.cli.trail;

import java.time.Instant;

/**
 * Something that happened.
 *
 * @param time when; of what happened several times, the last time
 * @param source who says so
 * @param text what happened, in one line
 */
record Entry(Instant time, String source, String text) {}
