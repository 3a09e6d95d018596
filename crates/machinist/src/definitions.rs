//! The CustomResourceDefinitions that this program brings along, as the build embedded them.

use machinist_apiserver::Embedded;

static DEFINITIONS: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// All of them, in the order of their files' names.
pub(crate) fn all() -> &'static [Embedded] {
    DEFINITIONS
}

#[cfg(test)]
mod tests {
    use super::*;
    use machinist_api::crds;
    use machinist_apiserver::{ApiServer, Options, Store};
    use serde_json::Value;

    fn objects() -> Vec<Value> {
        all().iter().map(|one| one.whole().unwrap()).collect()
    }

    #[test]
    fn what_is_embedded_is_what_the_types_say() {
        let mut embedded: Vec<String> = objects()
            .into_iter()
            .map(|object| crds::crd_yaml(&serde_json::from_value(object).unwrap()).unwrap())
            .collect();
        let mut derived: Vec<String> = crds::crds()
            .into_iter()
            .map(|mut crd| {
                crds::serve_every_version(&mut crd);
                crds::crd_yaml(&crd).unwrap()
            })
            .collect();
        embedded.sort();
        derived.sort();
        assert!(embedded == derived, "run `make manifests`");
    }

    /// What makes it safe to write them unjudged: this test judges them, each and together.
    #[tokio::test]
    async fn every_definition_is_accepted_when_it_is_judged() {
        let options = Options {
            crds: objects(),
            ..Options::default()
        };
        let judged = ApiServer::new(Store::memory(), options).await.unwrap();
        let options = Options {
            embedded: all().to_vec(),
            ..Options::default()
        };
        let trusted = ApiServer::new(Store::memory(), options).await.unwrap();
        let served = |server: &ApiServer| {
            let prefix = "/apiextensions.k8s.io/customresourcedefinitions/";
            let stored = server.store().list(prefix, None, None).entries;
            let objects = stored.iter().map(|entry| {
                let object: Value = serde_json::from_slice(&entry.value).unwrap();
                let conditions = object["status"]["conditions"].as_array().unwrap();
                assert!(conditions.iter().all(|c| c["status"] == "True"), "{object}");
                object["spec"].clone()
            });
            objects.collect::<Vec<_>>()
        };
        let (judged, trusted) = (served(&judged), served(&trusted));
        assert_eq!(judged.len(), all().len());
        assert!(judged == trusted, "judging changes a definition");
    }
}
