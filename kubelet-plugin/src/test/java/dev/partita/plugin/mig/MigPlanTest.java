package dev.partita.plugin.mig;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.mig.MigPlan.Change;
import dev.partita.plugin.nvml.MigControl.ComputeInstance;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.nvml.MigControl.MigState;
import java.util.List;
import org.junit.jupiter.api.Test;

class MigPlanTest {
  private static final MigInstance WANTED = new MigInstance("2g.35gb", 4, 2, 32L << 30);
  private static final List<ComputeInstance> WHOLE = List.of(new ComputeInstance(0, true, "MIG-1"));

  @Test
  void aCardWithoutMigIsSwitchedOnAndCut() {
    assertThat(MigPlan.toHave(WANTED, new MigState(false, List.of())).changes())
        .containsExactly(new Change.SwitchOn(), new Change.Make(WANTED));
  }

  @Test
  void whatIsThereAlreadyIsTaken() {
    assertThat(MigPlan.toHave(WANTED, on(instance("2g.35gb", 4, 2, WHOLE))).changes()).isEmpty();
  }

  @Test
  void whatIsHalfMadeIsMadeAnew() {
    GpuInstance half = instance("2g.35gb", 4, 2, List.of());
    GpuInstance parted =
        instance("2g.35gb", 4, 2, List.of(new ComputeInstance(0, false, ""), new ComputeInstance(1, false, "")));
    assertThat(MigPlan.toHave(WANTED, on(half)).changes()).containsExactly(new Change.End(half),
        new Change.Make(WANTED));
    assertThat(MigPlan.toHave(WANTED, on(parted)).changes()).containsExactly(new Change.End(parted),
        new Change.Make(WANTED));
  }

  @Test
  void noOtherInstanceIsEndedForAClaimAndThoseThatItCannotBeBesideAreNamed() {
    GpuInstance overlapping = instance("1g.18gb", 5, 1, WHOLE);
    GpuInstance atThePlace = instance("1g.35gb", 4, 2, WHOLE);
    GpuInstance beside = instance("1g.18gb", 6, 1, WHOLE);
    GpuInstance ofAnother = instance("3g.71gb", 0, 4, WHOLE);
    MigState state = on(overlapping, atThePlace, beside, ofAnother);
    assertThat(MigPlan.toHave(WANTED, state).changes()).containsExactly(new Change.Make(WANTED));
    assertThat(MigPlan.inTheWay(WANTED, state)).containsExactly(overlapping, atThePlace);
    assertThat(MigPlan.inTheWay(WANTED, on(instance("2g.35gb", 4, 2, List.of()), beside))).isEmpty();
  }

  @Test
  void aCardThatIsToBeUsedAsAWholeHasNoMigMode() {
    assertThat(MigPlan.toSwitchOff(on()).changes()).containsExactly(new Change.SwitchOff());
    assertThat(MigPlan.toSwitchOff(new MigState(false, List.of())).changes()).isEmpty();
  }

  @Test
  void onlyTheInstanceAtItsPlaceIsEnded() {
    GpuInstance own = instance("2g.35gb", 4, 2, List.of());
    assertThat(
        MigPlan.toEnd(WANTED.slot(), on(own, instance("2g.35gb", 0, 2, WHOLE), instance("1g.35gb", 4, 2, WHOLE)))
            .changes())
        .containsExactly(new Change.End(own));
    assertThat(MigPlan.toEnd(WANTED.slot(), new MigState(false, List.of())).changes()).isEmpty();
  }

  private static MigState on(GpuInstance... instances) {
    return new MigState(true, List.of(instances));
  }

  private static GpuInstance instance(String profile, int start, int size, List<ComputeInstance> parts) {
    return new GpuInstance(start, profile, start, size, parts);
  }
}
