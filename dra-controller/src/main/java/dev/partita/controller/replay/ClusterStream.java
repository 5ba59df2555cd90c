package dev.partita.controller.replay;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A cluster and the pods that arrive there one after the other; none leaves. As a file: JSON lines, a header, then the
 * nodes, then the pods in order.
 *
 * @param name the header's {@code stream}
 */
public record ClusterStream(String name, List<StreamNode> nodes, List<StreamPod> pods) {
  private static final ObjectMapper JSON = new ObjectMapper();

  public ClusterStream {
    nodes = List.copyOf(nodes);
    pods = List.copyOf(pods);
  }

  /**
   * A node.
   *
   * @param model of its cards; empty for a node without
   * @param gpus how many cards
   * @param cpuMilli thousandths of a CPU
   * @param memoryMiB of the node, not of its cards
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record StreamNode(String node, String model, int gpus, long cpuMilli, long memoryMiB) {
    public StreamNode(String node, @Nullable String model, int gpus, long cpuMilli, long memoryMiB) {
      this.node = require(node, "node");
      this.model = Objects.requireNonNullElse(model, "");
      this.gpus = within(gpus, 0, 64, "gpus");
      this.cpuMilli = atLeastNone(cpuMilli, "cpuMilli");
      this.memoryMiB = atLeastNone(memoryMiB, "memoryMiB");
    }
  }

  /**
   * A pod.
   *
   * @param gpus how many cards, all on one node
   * @param milli thousandths of each; below 1000 only of one
   * @param models any of them will do; empty for any at all
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record StreamPod(String pod, int gpus, int milli, long cpuMilli, long memoryMiB, List<String> models) {
    public StreamPod(String pod, int gpus, int milli, long cpuMilli, long memoryMiB, @Nullable List<String> models) {
      this.pod = require(pod, "pod");
      this.gpus = within(gpus, 0, 64, "gpus");
      this.milli = gpus == 0 ? 0 : within(milli, 1, 1000, "milli");
      this.cpuMilli = atLeastNone(cpuMilli, "cpuMilli");
      this.memoryMiB = atLeastNone(memoryMiB, "memoryMiB");
      this.models = List.copyOf(Objects.requireNonNullElse(models, List.of()));
      if (gpus > 1 && milli != 1000) {
        throw new IllegalArgumentException("parts of more than one GPU: " + gpus + " times " + milli + " milli");
      }
    }
  }

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read, or a line is not what it should be: the message names the line
   */
  public static ClusterStream read(BufferedReader lines) throws IOException {
    String name = "";
    List<StreamNode> nodes = new ArrayList<>();
    List<StreamPod> pods = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    int number = 0;
    for (@Nullable String line = lines.readLine(); line != null; line = lines.readLine()) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      try {
        JsonNode json = JSON.readTree(line);
        if (json.has("stream")) {
          name = json.get("stream").asText();
        } else if (json.has("node")) {
          StreamNode node = JSON.treeToValue(json, StreamNode.class);
          if (!seen.add(node.node())) {
            throw new IllegalArgumentException("node " + node.node() + " is there twice");
          }
          nodes.add(node);
        } else if (json.has("pod")) {
          pods.add(JSON.treeToValue(json, StreamPod.class));
        } else {
          throw new IllegalArgumentException("neither header nor node nor pod");
        }
      } catch (IOException | IllegalArgumentException e) {
        Throwable cause = e.getCause() instanceof IllegalArgumentException inner ? inner : e;
        String words = Objects.requireNonNullElse(cause.getMessage(), "not JSON").lines().findFirst().orElse("");
        throw new IOException("line " + number + ": " + words, e);
      }
    }
    if (nodes.isEmpty()) {
      throw new IOException("it has no nodes");
    }
    return new ClusterStream(name, nodes, pods);
  }

  private static String require(@Nullable String text, String field) {
    if (text == null || text.isEmpty()) {
      throw new IllegalArgumentException(field + " is empty");
    }
    return text;
  }

  private static int within(int number, int least, int most, String field) {
    if (number < least || number > most) {
      throw new IllegalArgumentException(field + " must be " + least + " to " + most + ": " + number);
    }
    return number;
  }

  private static long atLeastNone(long number, String field) {
    if (number < 0) {
      throw new IllegalArgumentException(field + " must not be negative: " + number);
    }
    return number;
  }
}
