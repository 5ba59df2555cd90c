package dev.partita.plugin.devicehealth;

import dev.partita.plugin.diagnosis.CardState;

/**
 * The health of a device.
 *
 * @param device its name in the pool
 * @param message for people; empty where nothing is wrong
 */
record DeviceState(String device, CardState state, String message) {}
