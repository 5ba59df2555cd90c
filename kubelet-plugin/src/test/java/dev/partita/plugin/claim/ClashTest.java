package dev.partita.plugin.claim;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import static dev.partita.plugin.grant.Grants.admin;
import static dev.partita.plugin.grant.Grants.alone;
import static dev.partita.plugin.grant.Grants.instance;
import static dev.partita.plugin.grant.Grants.share;
import static dev.partita.plugin.grant.Grants.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.claim.PreparedClaim.Phase;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClashTest {
  private static final ClaimRef CLAIM = new ClaimRef("default", "mine", "mine");

  @Test
  void sharesMayFillACardToTheLastByteAndNotBeyond() {
    PreparedClaim other = prepared("other", share("r", 0, "a", 60, 50));
    assertThat(clash(List.of(share("r", 0, "b", 20, 0)), other)).isEmpty();
    assertThat(clash(List.of(share("r", 0, "b", 20, 0), share("s", 0, "c", 1, 0)), other).orElseThrow())
        .contains("card GPU-0 (gpu-0) has 85899345920 bytes", "its shares would hold 86973087744");
    assertThat(clash(List.of(share("r", 1, "b", 80, 0)), other)).isEmpty();
  }

  @Test
  void aWholeCardStandsAlone() {
    assertThat(clash(List.of(whole("r", 0)), prepared("other", share("r", 0, "a", 1, 0))).orElseThrow())
        .contains("wanted as a whole, but claim default/other:other has gpu-0-shared prepared");
    assertThat(clash(List.of(whole("r", 0)), prepared("other", whole("r", 0)))).isPresent();
    assertThat(clash(List.of(share("r", 0, "a", 1, 0)), prepared("other", whole("r", 0))).orElseThrow())
        .contains("is prepared as a whole for claim default/other:other");
    assertThat(clash(List.of(whole("r", 0), share("s", 0, "a", 1, 0)), prepared("other"))).isPresent();
    assertThat(clash(List.of(whole("r", 0), whole("s", 1)), prepared("other", whole("r", 2)))).isEmpty();
  }

  @Test
  void anExclusiveShareStandsAlone() {
    assertThat(
        clash(List.of(alone(share("r", 0, "a", 1, 0))), prepared("other", share("r", 0, "b", 1, 0))).orElseThrow())
        .contains("wanted exclusively, but claim default/other:other has gpu-0-shared prepared");
    assertThat(
        clash(List.of(share("r", 0, "a", 1, 0)), prepared("other", alone(share("r", 0, "b", 1, 0)))).orElseThrow())
        .contains("is prepared exclusively for claim default/other:other");
    assertThat(clash(List.of(alone(share("r", 0, "a", 1, 0)), share("s", 0, "b", 1, 0)), prepared("other")))
        .isPresent();
    assertThat(clash(List.of(alone(share("r", 0, "a", 1, 0)), share("s", 1, "b", 1, 0)),
        prepared("other", share("r", 1, "c", 1, 0)))).isEmpty();
    assertThat(clash(List.of(alone(share("r", 0, "a", 1, 0))), prepared("other", admin("r", 0)))).isEmpty();
    assertThat(clash(List.of(alone(share("r", 0, "a", 1, 0))), prepared("mine", alone(share("r", 0, "a", 1, 0)))))
        .isEmpty();
  }

  @Test
  void instancesStandBesideWhatTheyDoNotOverlap() {
    PreparedClaim other = prepared("other", instance("r", 0, 4, 2));
    assertThat(clash(List.of(instance("r", 0, 6, 1), instance("s", 0, 0, 4)), other)).isEmpty();
    assertThat(clash(List.of(instance("r", 0, 5, 1)), other).orElseThrow()).contains("to be cut for gpu-0-mig-1g-5",
        "claim default/other:other has gpu-0-mig-2g-4 prepared");
    assertThat(clash(List.of(instance("r", 0, 0, 4), instance("s", 0, 3, 1)), prepared("other"))).isPresent();
    assertThat(clash(List.of(share("r", 0, "a", 1, 0)), other).orElseThrow()).contains("is cut into MIG instances");
    assertThat(clash(List.of(whole("r", 0)), other)).isPresent();
    assertThat(clash(List.of(instance("r", 0, 0, 1)), prepared("other", share("r", 0, "a", 1, 0)))).isPresent();
    assertThat(clash(List.of(instance("r", 1, 4, 2)), other)).as("another card's").isEmpty();
  }

  @Test
  void administratorsStandBesideEverybody() {
    assertThat(clash(List.of(admin("r", 0)), prepared("other", whole("r", 0)))).isEmpty();
    assertThat(clash(List.of(whole("r", 0)), prepared("other", admin("r", 0)))).isEmpty();
  }

  @Test
  void aClaimDoesNotClashWithWhatItHadItself() {
    assertThat(clash(List.of(whole("r", 0)), prepared("mine", whole("r", 0)))).isEmpty();
  }

  @Test
  void saysWhichClaimsHaveSomethingOfTheCardThatIsFoughtOver() {
    PreparedClaim first = prepared("first", share("r", 0, "a", 40, 0));
    PreparedClaim second = prepared("second", share("r", 0, "b", 40, 0));
    PreparedClaim elsewhere = prepared("elsewhere", whole("r", 1));
    List<PreparedClaim> all = List.of(first, second, elsewhere, prepared("mine", share("r", 0, "c", 40, 0)));
    assertThat(Clash.between(List.of(share("r", 0, "c", 40, 0)), CLAIM, all).orElseThrow().others())
        .containsExactly(first, second);
    assertThat(Clash.between(List.of(whole("r", 2), whole("s", 2), share("t", 2, "d", 1, 0)), CLAIM, all).orElseThrow()
        .others()).isEmpty();
  }

  @Test
  void aClaimOfAnotherNamespaceIsNamedByItsUidAlone() {
    for (Grant grant : List.of(whole("r", 0), alone(share("r", 0, "a", 1, 0)), instance("r", 0, 4, 2))) {
      ClaimRef secret = new ClaimRef("secret", "name", "uid-7");
      PreparedClaim other = new PreparedClaim(secret, Phase.COMPLETED, "boot", List.of(grant), Map.of(), false);
      for (Grant wanted : List.of(whole("s", 0), share("s", 0, "b", 1, 0), instance("s", 0, 4, 2))) {
        assertThat(clash(List.of(wanted), other).orElseThrow())
            .contains("claim uid-7")
            .doesNotContain("secret", "name");
      }
    }
  }

  private static Optional<String> clash(List<Grant> wanted, PreparedClaim... others) {
    return Clash.between(wanted, CLAIM, List.of(others)).map(Clash::reason);
  }

  private static PreparedClaim prepared(String uid, Grant... grants) {
    return new PreparedClaim(new ClaimRef("default", uid, uid), Phase.COMPLETED, "boot", List.of(grants), Map.of(),
        false);
  }
}
