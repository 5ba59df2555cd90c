package dev.partita.cli.demo;

import dev.partita.cli.demo.cluster.DemoCluster;
import dev.partita.cli.demo.screen.Observations;
import dev.partita.cli.demo.screen.Screen;

/** What every chapter of the story needs. */
record Stage(DemoCluster cluster, Screen screen, Observations observations) {}
