{{- define "partita.image" -}}
{{ printf "%s/%s:%s" .root.Values.image.registry .name .root.Values.image.tag }}
{{- end }}

{{- /* A label takes no +, behind which Flux writes the digest of a chart that it has from a registry. */}}
{{- define "partita.labels" -}}
app.kubernetes.io/part-of: partita
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* The same with further ones, which go before. */}}
{{- define "partita.labelsAnd" -}}
{{- merge (dict) (.more | default dict) (fromYaml (include "partita.labels" .root)) | toYaml }}
{{- end }}

{{- define "partita.driverRoot" -}}
{{ if .Values.simulation.enabled }}{{ .Values.simulation.root }}{{ else }}{{ .Values.driver.root }}{{ end }}
{{- end }}

{{- define "partita.driverMounts" -}}
{{- $mounts := .Values.driver.extraMounts | default list }}
{{- if .Values.simulation.enabled }}
{{- $mounts = concat $mounts (list "/etc/partita-simulator:ro" "/run/partita-simulator:rw") }}
{{- end }}
{{- join "," $mounts }}
{{- end }}

{{- /* Fails where two of what listens in a pod have one port. */}}
{{- define "partita.portsApart" -}}
{{- $of := dict "8081" "the controller's health" "8082" "partita explain" }}
{{- if .Values.web.enabled }}{{ $_ := set $of "8083" "the web page" }}{{ end }}
{{- if .Values.webhook.enabled }}
{{- $port := toString .Values.webhook.port }}
{{- with get $of $port }}{{ fail (printf "webhook.port: %s is the port of %s: choose another" $port .) }}{{ end }}
{{- $_ := set $of $port "the webhooks (webhook.port)" }}
{{- end }}
{{- if .Values.metrics.enabled }}
{{- $port := toString .Values.metrics.port }}
{{- $_ := set $of "8080" "the plugins' health" }}
{{- with get $of $port }}{{ fail (printf "metrics.port: %s is the port of %s: choose another" $port .) }}{{ end }}
{{- end }}
{{- end }}

{{- /* Whether the cluster is OpenShift. */}}
{{- define "partita.onOpenShift" -}}
{{ or (eq (toString .Values.openshift) "true") (and (eq (toString .Values.openshift) "auto") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) }}
{{- end }}

{{- define "partita.pluginPrivileged" -}}
{{- if eq (toString .Values.plugin.privileged) "auto" }}
{{- not (or .Values.simulation.enabled .Values.plugin.runtimeClassName) }}
{{- else }}
{{- .Values.plugin.privileged }}
{{- end }}
{{- end }}

{{- /* Root of the node's folders, and nothing more: no capability is needed to write what root owns. */}}
{{- define "partita.confinedRoot" -}}
capabilities: {drop: [ALL]}
{{ include "partita.confined" . }}
{{- end }}

{{- /* Whether the plugin kills processes that hold what is not theirs. */}}
{{- define "partita.pluginKills" -}}
{{ or (eq .Values.plugin.onExcess "kill") (and .Values.plugin.lendMemory .Values.plugin.hostPID) }}
{{- end }}

{{- /* Like confinedRoot, and it may end processes of other users. */}}
{{- define "partita.killingRoot" -}}
capabilities: {drop: [ALL], add: [KILL]}
{{ include "partita.confined" . }}
{{- end }}

{{- /* A pod, and a container of it, that need nothing of their node. */}}
{{- define "partita.nonRootPod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "partita.nothingMore" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "partita.confined" -}}
runAsUser: 0
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* Namespaces whose objects the webhooks see: neither Partita's own, nor what keeps the cluster running, nor who asked not to. */}}
{{- define "partita.webhookNamespaces" -}}
matchExpressions:
  - {key: kubernetes.io/metadata.name, operator: NotIn, values: [{{ .Release.Namespace | quote }}, kube-system]}
  - {key: gpu.partita.dev/admission, operator: NotIn, values: [disabled]}
{{- end }}

{{- /* Extended resources of the systems whose requests are converted, as a regular expression inside of a CEL string literal. */}}
{{- define "partita.gpuResources" -}}
^(deviceclass[.]resource[.]kubernetes[.]io/(.*[.])?gpu[.]partita[.]dev$|nvidia[.]com/(gpu|mig-|vgpu-|priority)|tencent[.]com/vcuda|aliyun[.]com/gpu|elasticgpu[.]io/|tke[.]cloud[.]tencent[.]com/qgpu|volcano[.]sh/(vgpu|gpu-)|koordinator[.]sh/gpu|kubernetes[.]io/gpu(-core|-memory(-ratio)?)?$)
{{- end }}

{{- /* The annotations of pods by which other systems' pods ask for GPUs. */}}
{{- define "partita.gpuAnnotations" -}}
^(gpu-(fraction|memory)|(nvidia[.]com|kai[.]scheduler)/container[.])
{{- end }}

{{- /* The user names of our own ServiceAccounts, as API servers know them, as CEL strings. */}}
{{- define "partita.controllerUser" -}}
"system:serviceaccount:{{ .Release.Namespace }}:partita-dra-controller"
{{- end }}

{{- define "partita.pluginUser" -}}
"system:serviceaccount:{{ .Release.Namespace }}:partita-kubelet-plugin"
{{- end }}

{{- /*
CEL: two maps have the same entries, but for some keys. Whatever Kubernetes adds to them later is compared as well.
The argument: a list of the maps, as CEL expressions, and of the keys that may differ.
*/}}
{{- define "partita.sameBut" -}}
{{- $new := index . 0 }}{{ $old := index . 1 }}{{ $but := toJson (slice . 2) -}}
dyn({{ $new }}).all(k, k in {{ $but }} || (k in dyn({{ $old }}) && dyn({{ $new }})[k] == dyn({{ $old }})[k])) {{- /* */ -}}
{{ " " }}&& dyn({{ $old }}).all(k, k in {{ $but }} || k in dyn({{ $new }}))
{{- end }}

{{- /* CEL: the metadata is as it was, but for what API servers count and keep themselves, and these keys. */}}
{{- define "partita.sameMetadataBut" -}}
{{ include "partita.sameBut" (concat (list "object.metadata" "oldObject.metadata" "resourceVersion" "generation" "managedFields") .) }}
{{- end }}

{{- /*
The metadata of a ValidatingAdmissionPolicy, and its binding, which denies.
  root  the chart's values
  name  of both
  bound false for a policy that nobody is held to (default: true)
*/}}
{{- define "partita.policyHead" -}}
{{- if ne (toString .bound) "false" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  labels: {{- include "partita.labels" .root | nindent 4 }}
spec:
  policyName: {{ .name }}
  validationActions: [Deny]
---
{{ end -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ .name }}
  labels: {{- include "partita.labels" .root | nindent 4 }}
{{- end }}

{{- /* CEL: toleration t covers the taint of what the controller allocates. The argument: the request, which names a class. */}}
{{- define "partita.tolerates" -}}
t.?key.orValue("") == "gpu.partita.dev/allocator" || (t.?key.orValue("") == "" {{- /* */ -}}
{{ " " }}&& t.?effect.orValue("") in ["", "NoSchedule"] && ("." + {{ . }}.deviceClassName).endsWith(".gpu.partita.dev"))
{{- end }}
