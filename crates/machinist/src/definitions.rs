//! The CustomResourceDefinitions that this program brings along, as the build embedded them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use machinist_api::crds::{self, CrdOptions};
use machinist_apiserver::Embedded;

use crate::failure::{self, Outcome};

static DEFINITIONS: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// All of them, in the order of their files' names.
pub(crate) fn all() -> &'static [Embedded] {
    DEFINITIONS
}

/// All of them as they are shipped, in the order of their names, as an installation chose them. The
/// types could say it too; they would bring their schemas' generators into the program.
pub(crate) fn shipped(options: CrdOptions) -> Outcome<Vec<CustomResourceDefinition>> {
    let one = |embedded: &Embedded| {
        let object = embedded.whole()?;
        let mut crd: CustomResourceDefinition = serde_json::from_value(object)?;
        crds::serve_stored_version(&mut crd);
        crds::choose(&mut crd, options);
        Ok(crd)
    };
    let read: Result<Vec<_>, serde_json::Error> = all().iter().map(one).collect();
    let mut read = read.map_err(|e| failure::internal("could not read a definition", e))?;
    read.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn what_is_shipped_is_what_the_types_say() {
        for without_vm_short_name in [false, true] {
            let options = CrdOptions {
                without_vm_short_name,
            };
            let yaml = |crds: Vec<CustomResourceDefinition>| -> Vec<String> {
                crds.iter()
                    .map(|crd| crds::crd_yaml(crd).unwrap())
                    .collect()
            };
            let shipped = yaml(shipped(options).unwrap());
            assert!(
                shipped == yaml(crds::crds_with(options)),
                "run `make manifests`"
            );
        }
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
