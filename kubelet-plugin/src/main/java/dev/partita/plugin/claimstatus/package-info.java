/** What a claim's user sees: device status and events. */
@NullMarked
package dev.partita.plugin.claimstatus;

import org.jspecify.annotations.NullMarked;
