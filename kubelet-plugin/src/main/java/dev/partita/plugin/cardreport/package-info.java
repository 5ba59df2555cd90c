/**
 * Tells shares what the rest of their card does, as NVML sees it (card_report.h): that is what core limits need besides
 * their own clock.
 */
@NullMarked
package dev.partita.plugin.cardreport;

import org.jspecify.annotations.NullMarked;
