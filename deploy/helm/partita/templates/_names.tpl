{{- define "partita.image" -}}
{{ printf "%s/%s:%s" .root.Values.image.registry .name .root.Values.image.tag }}
{{- end }}

{{- define "partita.labels" -}}
app.kubernetes.io/part-of: partita
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "partita.driverRoot" -}}
{{ if .Values.simulation.enabled }}{{ .Values.simulation.root }}{{ else }}{{ .Values.driver.root }}{{ end }}
{{- end }}

{{- define "partita.driverMounts" -}}
{{- $mounts := .Values.driver.extraMounts }}
{{- if .Values.simulation.enabled }}
{{- $mounts = concat $mounts (list "/etc/partita-simulator:ro" "/run/partita-simulator:rw") }}
{{- end }}
{{- join "," $mounts }}
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
runAsUser: 0
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end }}
