package dev.partita.cli.demo.screen;

/** What the demo shows. It has succeeded when every one of these was seen. */
public enum Observation {
  NODES_REPORT("Both nodes report their cards (GpuNode, Ready)"),
  PLUGINS_REGISTERED("kubelet on both nodes found the plugin's socket and registered it"),
  SLICES_PUBLISHED("ResourceSlices offer every card, as a whole and to take shares of"),
  SHARES_ALLOCATED("All three claims are allocated"),
  TWO_ON_ONE_CARD("Two of them share one card"),
  FOURTH_EXPLAINED("The fourth waits, and an event on its claim says why for every card"),
  CDI_WRITTEN("The plugin wrote a CDI file for each claim"),
  CONTAINERS_STARTED("The containers run with these edits"),
  SMI_SHOWS_QUOTA("nvidia-smi in the notebook shows its 8 GiB as the card's memory, and no other card"),
  WITHIN_QUOTA("An allocation inside the quota works"),
  BEYOND_QUOTA("One beyond it gets CUDA_ERROR_OUT_OF_MEMORY"),
  NEIGHBOUR_UNHARMED("The trainer on the same card still holds every byte"),
  CORES_HELD("A program that keeps the card busy gets about the quarter of its time that the notebook asked for"),
  MEMORY_GIVEN_BACK("The containers have ended, and the cards' memory is free again"),
  FILES_GONE("No CDI file, quota, ledger or checkpoint entry of the claims is left"),
  ALLOCATIONS_GIVEN_BACK("The claims and their allocations are gone"),
  ROOM_IS_REUSED("The fourth claim, which had to wait, gets the room");

  private final String text;

  Observation(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
