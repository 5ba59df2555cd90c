package dev.partita.admission.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Environment variables that other systems' libraries read in a container and nothing here does: no environment
 * variable changes a limit. The pod is converted all the same, with a note on each that its author may have relied on.
 */
enum LibraryVariable {
  CUDA_OVERSUBSCRIBE(true,
      "`oversubscribe` in the GpuShareConfig of a share's claim gives its container more memory than its part of the card"),
  CUDA_DISABLE_CONTROL(true, "nothing in a container turns its limits off; a container with a whole card has none"),
  ACTIVE_OOM_KILLER(true,
      "an allocation beyond the share fails with out of memory; who gets round that is ended where the chart's plugin.onExcess is kill"),
  CUDA_DEVICE_MEMORY_SHARED_CACHE(false,
      "the processes of a claim share an account that its node mounts; leave it out"),
  LIBCUDA_LOG_LEVEL(false,
      "the library prints nothing; the claim's conditions and events say what became of its limits"),
  CUDA_DEVICE_MEMORY_LIMIT(false,
      "a share has the memory that its claim asks for, and the variable says so in the container, whatever is set here"),
  CUDA_DEVICE_SM_LIMIT(false,
      "a share has the cores that its claim asks for, and the variable says so in the container, whatever is set here"),
  CUDA_TASK_PRIORITY(false,
      "a share has the priority that its claim asks for, by `priority` in its GpuShareConfig, and the variable says so in the container, whatever is set here"),
  DISABLE_VGPU_CONTROL(true, "nothing in a container turns its limits off; a container with a whole card has none"),
  CUDA_MEM_OVERSOLD(true,
      "`oversubscribe` in the GpuShareConfig of a share's claim gives its container more memory than its part of the card"),
  CGPU_DISABLE(true, "nothing in a container turns its limits off; a container with a whole card has none");

  /** Those of vgpu-manager's library. */
  static final Set<LibraryVariable> VGPU_MANAGER = EnumSet.of(DISABLE_VGPU_CONTROL, CUDA_MEM_OVERSOLD);

  /** cGPU's. */
  static final Set<LibraryVariable> CGPU = EnumSet.of(CGPU_DISABLE);

  /** Those of HAMi's library, which others use as well. */
  static final Set<LibraryVariable> HAMI =
      EnumSet.complementOf(EnumSet.of(DISABLE_VGPU_CONTROL, CUDA_MEM_OVERSOLD, CGPU_DISABLE));

  /**
   * HAMi's library reads limits with the number of a card behind the name, too, and vgpu-manager's the switch for
   * memory beyond the card's (coldzerofear/vgpu-manager, library/src/util.c).
   */
  private static final Pattern NUMBER = Pattern.compile("_[0-9]+$");

  /** As HAMi's library reads them: what they ask for is then what a share does anyway. */
  private static final Set<String> OFF = Set.of("", "false", "0");

  private final boolean isSwitch;
  private final String instead;

  LibraryVariable(boolean isSwitch, String instead) {
    this.isSwitch = isSwitch;
    this.instead = instead;
  }

  /** What to know of the variables that a container sets, in their order; nothing of a switch that is off. */
  static List<FieldError> notes(Set<LibraryVariable> of, JsonNode container, String containerPath) {
    List<FieldError> notes = new ArrayList<>();
    JsonNode variables = container.path("env");
    for (int i = 0; i < variables.size(); i++) {
      JsonNode set = variables.path(i);
      String path = containerPath + ".env[" + i + "]";
      of.stream()
          .filter(variable -> variable.isNamed(set.path("name").asText()) && !variable.isOff(set))
          .forEach(variable -> notes
              .add(new FieldError(path, set.path("name").asText() + " is not read: " + variable.instead)));
    }
    return notes;
  }

  private boolean isNamed(String variable) {
    return variable.equals(name()) || (ofEachCard() && NUMBER.matcher(variable).replaceFirst("").equals(name()));
  }

  private boolean ofEachCard() {
    return name().endsWith("_LIMIT") || this == CUDA_MEM_OVERSOLD;
  }

  private boolean isOff(JsonNode set) {
    return isSwitch && !set.has("valueFrom") && OFF.contains(set.path("value").asText(""));
  }
}
