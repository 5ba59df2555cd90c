package dev.partita.cli.images;

import com.google.cloud.tools.jib.api.Credential;
import com.google.cloud.tools.jib.api.DescriptorDigest;
import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.RegistryException;
import com.google.cloud.tools.jib.blob.BlobDescriptor;
import com.google.cloud.tools.jib.event.EventHandlers;
import com.google.cloud.tools.jib.http.FailoverHttpClient;
import com.google.cloud.tools.jib.image.json.OciIndexTemplate;
import com.google.cloud.tools.jib.registry.RegistryClient;
import com.google.cloud.tools.jib.registry.credentials.CredentialRetrievalException;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.security.DigestException;
import java.util.List;
import java.util.Optional;

/**
 * One name for an image of several processors: an index (image-spec, image-index.md), of which a node takes its own.
 */
final class ImageIndex {
  private final OciIndexTemplate template = new OciIndexTemplate();

  /**
   * @param images those that it names, which the registry has already
   */
  ImageIndex(List<OciArchive> images) {
    for (OciArchive image : images) {
      try {
        template.addManifest(
            new BlobDescriptor(image.manifestSize(), DescriptorDigest.fromDigest(image.digest())),
            image.architecture());
      } catch (DigestException wrong) {
        throw new IllegalArgumentException(image.digest(), wrong);
      }
      template.getManifests().getLast().setPlatform(image.architecture(), "linux");
    }
  }

  /** Pushes it; gives its digest. */
  String push(ImageReference to, boolean insecure, RegistryLogins logins) {
    boolean overHttp = false; // the login, as Jib has it of images
    FailoverHttpClient http = new FailoverHttpClient(insecure, overHttp, event -> {});
    try {
      RegistryClient.Factory factory =
          RegistryClient.factory(EventHandlers.NONE, to.getRegistry(), to.getRepository(), http);
      Optional<Credential> login = logins.of(to);
      login.ifPresent(factory::setCredential);
      RegistryClient registry = factory.newRegistryClient();
      // an identity token is no password
      if (!registry.doPushBearerAuth() && login.isPresent() && !login.get().isOAuth2RefreshToken()) {
        registry.configureBasicAuth();
      }
      return registry.pushManifest(template, to.getTag().orElseThrow()).toString();
    } catch (IOException | RegistryException | CredentialRetrievalException refused) {
      throw CommandFailure.failed("the index %s cannot be pushed: %s".formatted(to,
          logins.refusal(refused).or(() -> RegistryTrust.problem(refused))
              .orElseGet(() -> String.valueOf(refused.getMessage()))));
    } finally {
      close(http);
    }
  }

  private static void close(FailoverHttpClient http) {
    try {
      http.shutDown();
    } catch (IOException ended) {
      // nothing is waited for any more
    }
  }
}
