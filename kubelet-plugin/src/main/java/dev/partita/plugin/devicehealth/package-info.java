/** Tells kubelet which devices are healthy, so that the status of their pods says so. */
@NullMarked
package dev.partita.plugin.devicehealth;

import org.jspecify.annotations.NullMarked;
