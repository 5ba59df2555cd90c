/**
 * Container Device Interface specs as values, and a folder of them on disk. Facts are from the CDI specification 0.8.0
 * (github.com/cncf-tags/container-device-interface, SPEC.md). Not covered, and refused when read: {@code intelRdt},
 * {@code
 * netDevices} and annotations of single devices.
 */
@NullMarked
package dev.partita.cdi;

import org.jspecify.annotations.NullMarked;
