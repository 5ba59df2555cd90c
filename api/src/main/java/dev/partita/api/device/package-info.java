/** What ResourceSlices and claims say of devices: attributes and their values, names of capacities, data of status. */
@NullMarked
package dev.partita.api.device;

import org.jspecify.annotations.NullMarked;
