/** The DeviceClasses that the controller owns. */
@NullMarked
package dev.partita.controller.classes;

import org.jspecify.annotations.NullMarked;
