package dev.partita.cli.demo;

/** What every chapter of the story needs. */
record Stage(DemoCluster cluster, Screen screen, Observations observations) {}
