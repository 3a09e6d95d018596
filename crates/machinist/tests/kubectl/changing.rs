//! What is changed in place: patches, labels, an editor, a replacement.

use std::os::unix::fs::PermissionsExt;

use super::{
    assert_has, bigger,
    support::{manifests::machine, process},
    web, with_each,
};

#[test]
fn changing() {
    with_each(|kubectl, sandbox| {
        kubectl.feed_ok("create", &web());
        assert_has(&kubectl.feed("create", &web()).stderr, &["AlreadyExists"]);
        let patch = |words: &str, patch: &str| kubectl.ok_with(words, &["-p", patch]);
        patch(
            "patch machine web --type=merge",
            r#"{"spec":{"tags":{"a":"merge"}}}"#,
        );
        patch(
            "patch machine web --type=json",
            r#"[{"op":"test","path":"/spec/tags/a","value":"merge"},{"op":"add","path":"/spec/tags/b","value":"json"}]"#,
        );
        patch(
            "patch machineproviders.v1alpha1.vitistack.io local --type=merge",
            r#"{"spec":{"config":{"timeout":"45s"}}}"#,
        );
        kubectl.ok("wait machine/web --for=condition=Ready --timeout=180s");
        let before = kubectl.get("machine web")["metadata"]["generation"].clone();
        patch(
            "patch machine web --subresource=status --type=merge",
            r#"{"status":{"hostname":"by-hand"},"spec":{"tags":{"c":"ignored"}}}"#,
        );
        kubectl.ok("label machine web color=blue");
        kubectl.ok("annotate mp local note=kept");
        let web = kubectl.get("machine web");
        assert_eq!(
            web["spec"]["tags"],
            serde_json::json!({"a": "merge", "b": "json"})
        );
        assert_eq!(web["metadata"]["labels"]["color"], "blue");
        assert_eq!(web["metadata"]["generation"], before);
        let local = kubectl.get("machineproviders.v1alpha1.vitistack.io local");
        assert_eq!(local["metadata"]["annotations"]["note"], "kept");
        assert_eq!(local["spec"]["config"]["timeout"], "45s");

        let editor = sandbox.write(
            "editor",
            "#!/bin/sh\nexec sed -i 's/a: merge/a: edited/' \"$1\"\n",
        );
        std::fs::set_permissions(&editor, PermissionsExt::from_mode(0o755)).unwrap();
        let mut edit = kubectl.command("edit machine web", &[]);
        let edited = process::run(edit.env("EDITOR", &editor).env_remove("KUBE_EDITOR"));
        assert_has(&edited.stdout, &["machine.vitistack.io/web edited"]);
        assert_eq!(kubectl.get("machine web")["spec"]["tags"]["a"], "edited");
        assert_has(
            &kubectl.refused("scale machine web --replicas=2"),
            &["machines.vitistack.io \"web\" not found"],
        );
        let other = machine("web", "sim", "debian-13");
        assert_has(
            &kubectl.feed("replace", &other).stderr,
            &["spec.os", "delete the Machine and create it anew"],
        );
        kubectl.feed_ok("replace", &bigger(&super::web()));
        assert_eq!(
            kubectl.get("machines.v1alpha1.vitistack.io web")["spec"]["disks"][0]["sizeGB"],
            2
        );
    });
}
