package dev.partita.plugin.inventory;

/**
 * What this plugin may do with the cards that it finds.
 *
 * @param reserve what of each card is kept from shares, besides what the driver keeps
 * @param mig whether MIG instances may be made of them
 * @param driverLimits whether the driver, where it can, is to hold pods to the memory of their shares
 */
public record CardPolicy(Reserve reserve, boolean mig, boolean driverLimits) {}
