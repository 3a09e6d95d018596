//! kube-rs on the server in the same process, as the engine uses it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::collections::BTreeSet;

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
};
use kube::runtime::watcher::{self, Event};
use kube::{Client, ResourceExt as _};
use machinist_apiserver::Identity;
use serde_json::json;

async fn client() -> (machinist_apiserver::ApiServer, Client, Api<DynamicObject>) {
    let server = common::server().await;
    let client = Client::new(server.service(Identity::admin()), "default");
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.io", "v1", "Widget"));
    let widgets = Api::namespaced_with(client.clone(), "default", &kind);
    (server, client, widgets)
}

fn widget(name: &str) -> DynamicObject {
    serde_json::from_value(common::widget(name)).unwrap()
}

#[tokio::test]
async fn typed_and_dynamic_calls() {
    let (_server, client, widgets) = client().await;
    let created = widgets
        .create(&PostParams::default(), &widget("one"))
        .await
        .unwrap();
    let mut changed = created.clone();
    changed.data["spec"]["color"] = "blue".into();
    let replaced = widgets
        .replace("one", &PostParams::default(), &changed)
        .await
        .unwrap();
    assert_eq!(replaced.metadata.generation, Some(2));
    let kube::Error::Api(status) = widgets
        .replace("one", &PostParams::default(), &changed)
        .await
        .unwrap_err()
    else {
        panic!("an old version must be refused");
    };
    assert!(status.is_conflict(), "{status:?}");
    let apply = PatchParams::apply("tests").force();
    let status =
        json!({"apiVersion": "example.io/v1", "kind": "Widget", "status": {"phase": "Up"}});
    let patched = widgets
        .patch_status("one", &apply, &Patch::Apply(&status))
        .await
        .unwrap();
    assert_eq!(patched.data["status"]["phase"], "Up");
    assert_eq!(
        widgets.get_opt("two").await.unwrap().map(|w| w.name_any()),
        None
    );
    assert!(
        widgets
            .delete("one", &DeleteParams::default())
            .await
            .unwrap()
            .is_right()
    );

    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let secret = Secret {
        string_data: Some([("a".to_owned(), "b".to_owned())].into()),
        metadata: kube::api::ObjectMeta {
            name: Some("s".into()),
            ..Default::default()
        },
        ..Default::default()
    };
    let stored = secrets
        .create(&PostParams::default(), &secret)
        .await
        .unwrap();
    assert_eq!(stored.data.unwrap()["a"].0, b"b");

    let discovery = kube::discovery::Discovery::new(client.clone())
        .run()
        .await
        .unwrap();
    assert!(discovery.has_group("example.io"));
    assert!(
        client
            .apiserver_version()
            .await
            .unwrap()
            .git_version
            .starts_with("v1.36")
    );
}

#[tokio::test]
async fn watchers_of_both_kinds() {
    let (_server, _client, widgets) = client().await;
    for name in ["a", "b", "c"] {
        widgets
            .create(&PostParams::default(), &widget(name))
            .await
            .unwrap();
    }
    for config in [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
    ] {
        let mut events = watcher::watcher(widgets.clone(), config).boxed();
        let mut next = async || {
            tokio::time::timeout(common::PATIENCE, events.try_next())
                .await
                .unwrap()
                .unwrap()
                .unwrap()
        };
        assert!(matches!(next().await, Event::Init));
        let mut seen = BTreeSet::new();
        loop {
            match next().await {
                Event::InitApply(object) => seen.insert(object.name_any()),
                Event::InitDone => break,
                other => panic!("{other:?}"),
            };
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        widgets
            .create(&PostParams::default(), &widget("d"))
            .await
            .unwrap();
        assert!(matches!(next().await, Event::Apply(object) if object.name_any() == "d"));
        widgets.delete("d", &DeleteParams::default()).await.unwrap();
        assert!(matches!(next().await, Event::Delete(object) if object.name_any() == "d"));
    }
}
