package dev.partita.e2e.pages;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Commands of pages that are not typed here, each with the reason. Whatever no line names is run. */
final class Excuses {
  /**
   * @param command how such commands begin
   * @param why who shows that they work, or why nobody can here
   */
  record Excuse(Pattern command, String why) {
    Excuse(String command, String why) {
      this(Pattern.compile("^(?:" + command + ")"), why);
    }

    boolean covers(String it) {
      return command.matcher(it).find();
    }
  }

  /**
   * @param shown a part of what such blocks show
   * @param why who prints it
   */
  record ShownElsewhere(Pattern shown, String why) {
    ShownElsewhere(String shown, String why) {
      this(Pattern.compile("(?m)" + shown), why);
    }
  }

  static final List<Excuse> ALL = List.of(
      new Excuse("\\./partita demo\\b", "DemoIT runs it"),
      new Excuse("\\./partita cluster up\\b", "the cluster of all tests came up by it"),
      new Excuse("\\./partita cluster down\\b", "the cluster of all tests goes down by it"),
      new Excuse("\\./partita web\\b", "goes on until somebody ends it; WebIT opens the page"),
      new Excuse(".* --watch$", "goes on until somebody ends it; TopCommandTest draws its pictures one over the other"),
      new Excuse("mvn ", "this test runs within it"),
      new Excuse("docker (save|build)|\\./partita cluster load", "needs Docker and an image of the reader's"),
      new Excuse("helm ", "needs Helm; InstallationIT, UpgradeIT and UninstallIT do the same by Helm's library"),
      new Excuse("kubectl logs .* job/partita-uninstall$", "there only where Helm could not uninstall: UninstallIT"),
      new Excuse("\\./partita images .*--registry registry\\.example", "needs a registry; ImagesIT has one"),
      new Excuse("sed .*registry\\.example", "needs a registry; ExamplesIT applies the examples as they are"),
      new Excuse("\\./partita release|for image in|image=registry\\.example|cosign |sha256sum ",
          "needs registries, keys and another JDK; ReleaseFolderIT makes a release of one processor"),
      new Excuse("ctr ", "on a node, with the files of a release; a lab imports its images so"),
      new Excuse("dpkg |apt-get |for package in|export PARTITA_JDK_ARM64", "installs packages on the machine"),
      new Excuse("sh hook-lib/build\\.sh fetch", "downloads and builds for minutes; CI does it before this test"),
      new Excuse("bash deploy/command/stage\\.sh|tar -C ~|export PATH=.*~",
          "writes to the reader's home; KubectlPartitaIT makes the archive and unpacks it elsewhere"),
      new Excuse("kubectl krew ", "needs krew; KubectlPartitaIT looks that the archive has only what krew takes"),
      new Excuse("(kubectl get \\S+ -o yaml \\| )?\\./partita convert ",
          "files of the reader's; DialectsIT and ConvertCommandTest convert such"),
      new Excuse("kubectl apply --dry-run=server -f pod\\.yaml", "a file of the reader's; AdmissionIT makes such pods"),
      new Excuse("kubectl label namespace team-b ", "a namespace of the reader's; AdmissionIT leaves one alone"),
      new Excuse("kubectl create namespace partita-system|kubectl label namespace partita-system",
          "before Partita is installed; InstallationIT does it"),
      new Excuse("kubectl label node NODE gpu\\.partita\\.dev/plugin=|kubectl wait -n partita-system --for=delete pod ",
          "ends the node's plugin for a minute; NodeSettingsIT does it"),
      new Excuse("kubectl patch resourceclaim CLAIM ", "takes the claim of a pod that runs"),
      new Excuse("kubectl delete gpunode ", "loses a node's settings, which the tests use"),
      new Excuse("kubectl label node NODE nvidia\\.com/|kubectl uncordon NODE",
          "needs NVIDIA's operator; OtherDevicePluginIT moves a node from such a plugin"),
      new Excuse("kubectl get gpunode NODE -o jsonpath='\\{range \\.status\\.(gpus|otherDrivers)",
          "shows what others give out; OtherDevicePluginIT and OtherDriverIT have such a node"),
      new Excuse("nvidia-smi ", "on a node with a card; MigIT has instances that an administrator made"),
      new Excuse("chcon ", "needs a node with SELinux"),
      new Excuse("kubectl logs .* \\| grep \"cannot hold it\"",
          "written only where a driver refuses limits; DriverLimitIT has one that sets them"),
      new Excuse("kubectl logs .* \\| grep -e \"be killed\" -e lent",
          "written only where lent memory does not come back; GrowingMemoryIT lends some"),
      new Excuse("kubectl create token viewer ", "an account of the reader's; WebIT has one"),
      new Excuse("kubectl get configmap -n partita-system partita-history",
          "not there in a cluster's first minutes; LastDayIT reads it"),
      new Excuse("kubectl patch secret -n partita-system partita-webhook-certificate ",
          "changes what all tests use; WebhookCertificateIT does it"),
      new Excuse("kubectl delete -n partita-system certificate/", "needs cert-manager"));

  /**
   * Commands that sentences name, and that are part of no block that is typed; what stands above is excused here, too.
   */
  static final List<Excuse> IN_RUNNING_TEXT = List.of(
      new Excuse("(docker|podman|skopeo) login|podman save|crane |kind |mmdebstrap ",
          "other people's programs, for registries and images of the reader's; ImagesIT has a base image and a registry"),
      new Excuse("(ausearch|nvidia-modprobe|systemctl|journalctl|rm|umount) ", "on a node, as its administrator"),
      new Excuse("kubectl get \\S+( -A| NODE)? -o (yaml|wide)$",
          "prints any kind so; CrdTest holds the columns and fields of ours"),
      new Excuse("kubectl get gpunode NODE -o jsonpath='\\{\\.status\\.bindingClaims\\}'",
          "empty but for the moments of a binding; NodeBindingClaimsTest says when"),
      new Excuse("kubectl explain ", "prints what a definition says; CrdTest holds ours"),
      new Excuse("kubectl (un)?cordon\\b", "keeps pods of other tests off a node"),
      new Excuse("kubectl describe node NODE$", "shows what other systems' plugins gave out, and a lab has none"),
      new Excuse("kubectl label node NODE gpu\\.partita\\.dev/plugin-$", "NodeSettingsIT takes the label off"),
      new Excuse("kubectl label node NODE (gpu|vgpu-manager-enable|nvidia-device-enable|gpushare)-$",
          "takes off what another system's installation set; a lab has none of them"),
      new Excuse("kubectl annotate resourceclaim NAME look=again", "for a fault of KAI, which a lab has not"),
      new Excuse("kubectl wait .* job/partita-uninstall$",
          "there only where somebody uninstalls without Helm's hooks: UninstallIT has Helm wait for it"),
      new Excuse("kubectl delete (crd|namespace)\\b", "takes away what all tests use"),
      new Excuse("kubectl (apply --dry-run=server -o yaml|apply -f - <<EOF|logs --previous)$",
          "a way of calling, of which the sentence leaves out the object"));

  /** What pages show of other clusters than this one; the commands are run all the same. */
  static final List<ShownElsewhere> SHOWN_ELSEWHERE =
      List.of(new ShownElsewhere("^h200 .* n$|^n +4$|^team ", "WhatIfCommandsTest, of a cluster that it makes up"));

  private Excuses() {}

  /** Why a command is not run; empty if it is. */
  static Optional<String> of(String command) {
    return ALL.stream().filter(excuse -> excuse.covers(command)).map(Excuse::why).findFirst();
  }

  /** Why a command that a sentence names is not run; empty if none is known. */
  static Optional<String> ofNamed(String command) {
    return Stream.concat(ALL.stream(), IN_RUNNING_TEXT.stream()).filter(excuse -> excuse.covers(command))
        .map(Excuse::why).findFirst();
  }

  /** Why what a page shows is not held against what came out here; empty if it is. */
  static Optional<String> ofShown(String shown) {
    return SHOWN_ELSEWHERE.stream().filter(it -> it.shown().matcher(shown).find()).map(ShownElsewhere::why)
        .findFirst();
  }
}
