/**
 * Tells shares what the rest of their card does, and what they had of it themselves (card_report.h). Core limits need
 * that besides their own clock.
 */
@NullMarked
package dev.partita.plugin.cardreport;

import org.jspecify.annotations.NullMarked;
