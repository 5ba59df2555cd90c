package dev.partita.plugin.usage;

/** What is done about a process that holds more of a card than its claims allow, and more than contexts and modules explain. */
public enum OnExcess {
  /** The claim's status and an event say so. */
  REPORT,
  /** Besides, the process gets SIGKILL; its memory is the others' again, and kubelet restarts the container. */
  KILL
}
