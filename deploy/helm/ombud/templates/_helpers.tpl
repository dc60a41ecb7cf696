{{- define "ombud.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "ombud.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ombud.labels" -}}
{{ include "ombud.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ombud.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "ombud.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "ombud.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "ombud.publicUrl" -}}
{{- required "publicUrl is required: the address by which people reach ombud, such as https://ask.example.com" .Values.publicUrl | trimSuffix "/" }}
{{- end }}

{{- define "ombud.databaseSecret" -}}
{{- required "database.secretName is required: a secret that holds the URL of a PostgreSQL database" .Values.database.secretName }}
{{- end }}

{{- /* "true" where two servers or more can run at the same time. */ -}}
{{- define "ombud.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.server.replicas) 1) }}true{{ end }}
{{- end }}

{{- define "ombud.pod" -}}
automountServiceAccountToken: {{ .Values.serviceAccount.automountToken }}
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "ombud.container" -}}
image: {{ include "ombud.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "ombud.env" -}}
- {name: OMBUD_STORE__URL_FILE, value: /run/secrets/ombud/database-url}
- {name: OMBUD_SERVER__LOG, value: json}
{{- end }}

{{- define "ombud.workspaceEnv" -}}
- {name: OMBUD_SERVER__PUBLIC_URL, value: {{ include "ombud.publicUrl" . | quote }}}
{{- with .Values.server.trustedProxies }}
- {name: OMBUD_SERVER__TRUSTED_PROXIES, value: {{ toJson . | quote }}}
{{- end }}
{{- with .Values.indexUrl }}
- {name: OMBUD_INDEX__URL, value: {{ . | quote }}}
{{- end }}
{{- if gt (int .Values.worker.replicas) 0 }}
- {name: OMBUD_SYNC__WORKERS, value: queue}
{{- end }}
{{- range .Values.secretEnv }}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef: {name: {{ .secretName }}, key: {{ .key }}}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "ombud.mounts" -}}
- {name: workspace, mountPath: /workspace}
- {name: tmp, mountPath: /tmp}
- {name: home, mountPath: /home/ombud}
- {name: database, mountPath: /run/secrets/ombud, readOnly: true}
{{- end }}

{{- define "ombud.fileMounts" -}}
- {name: config, mountPath: /workspace/ombud.toml, subPath: ombud.toml, readOnly: true}
{{- range $path, $_ := .Values.files }}
- {name: config, mountPath: {{ printf "/workspace/%s" $path | quote }}, subPath: {{ $path | replace "/" "__" | quote }}, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "ombud.volumes" -}}
- {name: tmp, emptyDir: {}}
- {name: home, emptyDir: {}}
- name: database
  secret:
    secretName: {{ include "ombud.databaseSecret" . }}
    defaultMode: 0440
    items:
      - {key: {{ .Values.database.key }}, path: database-url}
{{- end }}

{{- define "ombud.fileVolumes" -}}
- name: config
  configMap: {name: {{ include "ombud.name" . }}, defaultMode: 0444}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
