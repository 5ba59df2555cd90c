/** What ResourceSlices say of devices: attributes and their values, names of capacities. */
@NullMarked
package dev.partita.api.device;

import org.jspecify.annotations.NullMarked;
