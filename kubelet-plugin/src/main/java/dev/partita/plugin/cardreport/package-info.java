/**
 * Tells shares what the rest of their card does, as NVML sees it (card_report.h). Core limits need that besides their
 * own clock.
 */
@NullMarked
package dev.partita.plugin.cardreport;

import org.jspecify.annotations.NullMarked;
