{{- define "machinist.selector" -}}
app.kubernetes.io/name: machinist
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "machinist.labels" -}}
{{ include "machinist.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The documents print the webhooks' service with its namespace: the API server asks there. */}}
{{- define "machinist.namespace" -}}
{{- if ne .Release.Namespace "vitistack-system" -}}
{{- fail (printf "the namespace is %s; it must be vitistack-system, where the API server looks for the webhooks: helm install --namespace vitistack-system --create-namespace" .Release.Namespace) -}}
{{- end -}}
vitistack-system
{{- end }}

{{/* Whether there is anything to run pods: an API server alone, such as that of machinist up, has its engine already. */}}
{{- define "machinist.hasPods" -}}
{{- if .Capabilities.APIVersions.Has "apps/v1" }}yes{{ end }}
{{- end }}
