package dev.partita.controller.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.stream.ClusterStream.Among;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class StreamReaderTest {
  private static final long MIB = 1L << 20;
  private static final String NODE = "{\"node\":\"a\",\"gpus\":2,\"cpuMilli\":1,\"memoryMiB\":1}\n";

  @Test
  void aStreamWithoutTimesIsReadAsEver() throws IOException {
    ClusterStream stream =
        read("""
            {"stream": "small", "nodes": 1, "pods": 3, "seed": 1}
            {"node": "n0", "model": "T4", "gpus": 2, "cpuMilli": 8000, "memoryMiB": 65536}

            {"pod": "p0", "gpus": 2, "milli": 1000, "cpuMilli": 1000, "memoryMiB": 1024, "models": ["T4"]}
            {"pod": "p1", "gpus": 1, "milli": 505, "cpuMilli": 1000, "memoryMiB": 1024, "models": null}
            {"pod": "p2", "gpus": 0, "milli": 0}
            """);
    PodNeeds needs = new PodNeeds(1000, 1024 * MIB);
    assertThat(stream).isEqualTo(
        new ClusterStream("small",
            List.of(new StreamNode("n0", "T4", 2, 64_000 * MIB, 2, new PodNeeds(8000, 65536 * MIB))),
            List.of(
                new StreamPod("p0", new Cards.Whole(2, new Among(List.of("T4"), Optional.empty())), needs, 0),
                new StreamPod("p1", new Cards.Share(1, 505 * 64 * MIB, 50, Among.ALL), needs, 1),
                new StreamPod("p2", new Cards.None(), PodNeeds.NONE, 2))));
    assertThat(stream.pods()).extracting(pod -> pod.cards().milli()).containsExactly(2000L, 505L, 0L);
    assertThat(stream.hasDepartures()).isFalse();
  }

  @Test
  void podsSayMemoryCoresModelAndTimes() throws IOException {
    ClusterStream stream =
        read(
            """
                {"node": "n0", "model": "h200", "gpus": 8, "gpuMemoryMiB": 143771, "gpusPerNuma": 4}
                {"pod": "p0", "gpus": 2, "gpuMemoryMiB": 8192, "cores": 25, "models": ["h200"], "matchAttribute": "numaNode", "arrivalSeconds": 2.5, "durationSeconds": 60}
                {"pod": "p1", "gpus": 1, "arrivalSeconds": 2.5}
                {"pod": "p2", "gpus": 1, "gpuMemoryMiB": 1}
                """);
    assertThat(stream.nodes()).containsExactly(
        new StreamNode("n0", "h200", 8, 143_771 * MIB, 4, PodNeeds.NONE));
    assertThat(stream.pods()).containsExactly(
        new StreamPod("p0",
            new Cards.Share(2, 8192 * MIB, 25, new Among(List.of("h200"), Optional.of("numaNode"))), PodNeeds.NONE, 2.5,
            OptionalDouble.of(60)),
        new StreamPod("p1", new Cards.Whole(1, Among.ALL), PodNeeds.NONE, 2.5),
        new StreamPod("p2", new Cards.Share(1, MIB, 0, Among.ALL), PodNeeds.NONE, 3.5));
    assertThat(stream.hasDepartures()).isTrue();
    assertThat(stream.lastArrival()).isEqualTo(3.5);
  }

  @Test
  void linesThatMakeNoSenseAreNamed() {
    assertBroken(NODE + "{\"pod\":\"p\",\"gpus\":2,\"milli\":500}", "line 2", "parts of more than one GPU");
    assertBroken("{\"node\":\"a\",\"gpus\":-1}", "line 1", "gpus must be 0 to 64");
    assertBroken("{\"node\":\"a\",\"gpus\":1}\n{\"node\":\"a\",\"gpus\":1}", "line 2", "twice");
    assertBroken("{\"stream\":\"x\"}\nnonsense", "line 2");
    assertBroken("[]", "line 1", "neither header nor node nor pod");
    assertBroken("{\"stream\":\"x\"}", "no nodes");
    assertBroken(NODE + "{\"pod\":\"\"}", "line 2", "pod is empty");
    assertBroken(NODE + "{\"pod\":\"p\",\"gpus\":\"2\"}", "line 2", "gpus is no whole number");
    assertBroken(NODE + "{\"pod\":\"p\",\"gpus\":1,\"cores\":5}", "line 2", "gpuMemoryMiB is missing");
    assertBroken(NODE + "{\"pod\":\"p\",\"gpus\":1,\"cores\":101,\"gpuMemoryMiB\":1}", "line 2",
        "cores must be 0 to 100");
    assertBroken(NODE + "{\"pod\":\"p\",\"gpus\":1,\"milli\":5,\"gpuMemoryMiB\":1}", "line 2", "say one of them");
    assertBroken(NODE + "{\"pod\":\"p\",\"durationSeconds\":-1}", "line 2", "durationSeconds is no number of seconds");
    assertBroken(NODE + "{\"pod\":\"p\",\"arrivalSeconds\":\"1h\"}", "line 2", "arrivalSeconds");
    assertBroken(NODE + "{\"pod\":\"p\",\"arrivalSeconds\":5}\n{\"pod\":\"q\",\"arrivalSeconds\":4}", "line 3",
        "before that of the pod before");
    assertBroken(NODE + "{\"pod\":\"p\",\"gpus\":1,\"models\":\"a\"}", "line 2", "models is no list");
    assertBroken(NODE + "{\"pod\":\"p\",\"gpus\":1,\"matchAttribute\":\"uuid\"}", "line 2", "numaNode or model");
    assertBroken("{\"node\":\"a\",\"gpus\":1,\"gpuMemoryMiB\":9}\n{\"pod\":\"p\",\"gpus\":1,\"milli\":5}", "line 2",
        "nodes without gpuMemoryMiB");
  }

  private static ClusterStream read(String text) throws IOException {
    return StreamReader.read(new BufferedReader(new StringReader(text)));
  }

  private static void assertBroken(String text, String... words) {
    assertThatThrownBy(() -> read(text)).isInstanceOf(IOException.class).hasMessageContainingAll(words);
  }
}
