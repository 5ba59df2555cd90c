/** The GpuQuota custom resource. */
@NullMarked
package dev.partita.api.quota;

import org.jspecify.annotations.NullMarked;
