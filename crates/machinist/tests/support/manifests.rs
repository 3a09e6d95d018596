//! Manifests of the tests, in the documented form.

/// A provider of this type, named `local`.
pub fn provider(kind: &str) -> String {
    format!(
        "apiVersion: vitistack.io/v1alpha1
kind: MachineProvider
metadata: {{name: local, namespace: default}}
spec: {{type: {kind}, region: local}}
"
    )
}

/// A machine for a provider of this type, with a disk that begins as this image.
pub fn machine(name: &str, kind: &str, image: &str) -> String {
    format!(
        "apiVersion: vitistack.io/v1alpha1
kind: Machine
metadata:
  name: {name}
  namespace: default
  labels: {{tier: test}}
spec:
  name: {name}
  instanceType: small
  cpu: {{cores: 1}}
  memory: 67108864
  os: {{family: linux, distribution: debian, version: '12', architecture: amd64, imageID: {image}}}
  disks: [{{name: root, sizeGB: 1, boot: true}}]
  providerConfig: {{name: {kind}, region: local}}
"
    )
}
