//! One table of cases, two servers: the embedded one and kube-apiserver judge and complete every
//! manifest alike. What a schema and CEL say is enforced by a server alone; with the operator beside
//! it, everything is.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;
#[path = "../../api/tests/table/mod.rs"]
mod table;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
        PostParams,
    },
    core::response::StatusCause,
    runtime::wait::{Condition, await_condition, conditions::is_crd_established},
};
use serde_json::{Value, json};
use support::{
    Sandbox,
    kube::{self as real, Cluster},
    operator, process,
};
use table::{
    By, Case, Expect,
    bounds::{Bound, bounds},
};

/// Installs what `machinist crds` prints.
async fn install_crds(client: &Client, crds: &[CustomResourceDefinition]) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds {
        let made = api.create(&PostParams::default(), crd).await;
        made.unwrap_or_else(|error| panic!("{}: {error}", crd.name_any()));
    }
    for crd in crds {
        let established = await_condition(api.clone(), &crd.name_any(), is_crd_established()).await;
        established.unwrap();
    }
}

/// Every case, and every documented manifest as one.
fn cases() -> Vec<Case> {
    let documented = table::manifests().into_iter().map(|(name, manifest)| Case {
        name,
        manifest,
        was: None,
        expect: Expect::Accept,
        by: None,
    });
    documented.chain(table::cases()).collect()
}

/// A refusal: what is said, and of which fields.
#[derive(Debug)]
struct Refusal {
    message: String,
    causes: Vec<StatusCause>,
}

impl Refusal {
    /// What a reader misses: the field, or the value that is in it.
    fn unclear(&self, manifest: &Value) -> Option<String> {
        if self.causes.is_empty() {
            return Some(format!("names no field: {}", self.message));
        }
        let causes = self.causes.iter();
        // What was not looked at is the server's own affair.
        let mut causes = causes.filter(|cause| !cause.message.contains("were not checked"));
        causes.find_map(|cause| {
            let StatusCause { field, message, .. } = cause;
            let names_one = !field.is_empty() && field != "<nil>";
            if !names_one && !message.contains("metadata.") && !message.contains("spec.") {
                return Some(format!("names no field: {cause:?}"));
            }
            // The value counts where it is a line of text that breaks a rule of its own. A rule over
            // an object cannot show a number, because text of numbers has no bounded cost.
            let value = pointed(manifest, field)?.as_str()?;
            let counts = cause.reason == "FieldValueInvalid"
                && field.starts_with("spec.")
                && !message.contains("cannot be changed")
                && !message.contains("chars")
                && !value.contains('\n')
                && value.len() <= 64;
            let is_shown = !counts || message.contains(value);
            (!is_shown).then(|| format!("does not show the value {value:?}: {cause:?}"))
        })
    }
}

/// The value at the path of a field.
fn pointed<'a>(manifest: &'a Value, field: &str) -> Option<&'a Value> {
    let pointer = field.replace('[', ".").replace(']', "").replace('.', "/");
    manifest.pointer(&format!("/{pointer}"))
}

/// What is wrong with two verdicts on a number at a bound or beyond it.
fn bound_objection(bound: &Bound, verdicts: [Result<Value, Refusal>; 2]) -> Option<String> {
    let [real, embedded] = &verdicts;
    let refuses = |verdict: &Result<Value, Refusal>| match verdict {
        Ok(_) => false,
        Err(refusal) => refusal
            .causes
            .iter()
            .any(|cause| cause.field == bound.path && cause.message.contains("should be")),
    };
    let is_right = refuses(real) == bound.is_beyond
        && refuses(embedded) == bound.is_beyond
        && real.is_ok() == embedded.is_ok();
    (!is_right).then(|| {
        format!(
            "{}\n  real      {real:?}\n  embedded  {embedded:?}",
            bound.name
        )
    })
}

/// A server, and which of the kinds belong to no namespace.
struct Server<'a> {
    client: Client,
    crds: &'a [CustomResourceDefinition],
}

impl Server<'_> {
    fn api(&self, manifest: &Value) -> Api<DynamicObject> {
        let word = |name: &str| manifest[name].as_str().unwrap();
        let (group, version) = word("apiVersion").split_once('/').unwrap();
        let kind = word("kind");
        let crd = self.crds.iter().map(|crd| &crd.spec);
        let crd = crd
            .clone()
            .find(|crd| crd.group == group && crd.names.kind == kind);
        let crd = crd.unwrap_or_else(|| panic!("no definition of {kind} in {group}"));
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, &crd.names.plural);
        match crd.scope.as_str() {
            "Cluster" => Api::all_with(self.client.clone(), &resource),
            _ => Api::namespaced_with(self.client.clone(), "default", &resource),
        }
    }

    /// Waits until the operator has made the server serve a version that needs its webhook.
    async fn await_version(&self, manifest: &Value) {
        let api = self.api(manifest);
        let mut last = None;
        for _ in 0..600 {
            match api.list(&ListParams::default()).await {
                Ok(_) => return,
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{} is not served: {last:?}", manifest["kind"]);
    }

    /// The schema of a manifest's kind.
    fn schema(&self, manifest: &Value) -> Option<Value> {
        let (group, version) = manifest["apiVersion"].as_str()?.split_once('/')?;
        let crds = self.crds.iter().map(|crd| &crd.spec);
        let mut of_kind = crds.filter(|crd| crd.names.kind == manifest["kind"]);
        let crd = of_kind.find(|crd| crd.group == group)?;
        let version = crd.versions.iter().find(|found| found.name == version)?;
        let schema = version.schema.as_ref()?.open_api_v3_schema.as_ref()?;
        serde_json::to_value(schema).ok()
    }

    /// What the server makes of a case: the object, or its refusal.
    async fn judge(&self, case: &Case) -> Result<Value, Refusal> {
        match &case.was {
            Some(was) => self.judge_change(was, &case.manifest).await,
            None => self.judge_creation(&case.manifest).await,
        }
    }

    /// A creation has no effect, but where there is a status to judge: a creation leaves it out.
    async fn judge_creation(&self, manifest: &Value) -> Result<Value, Refusal> {
        let api = self.api(manifest);
        let object = object(manifest);
        let dry_run = PostParams {
            dry_run: true,
            field_manager: None,
        };
        let accepted = answer(api.create(&dry_run, &object).await)?;
        if manifest["status"].is_null() {
            return Ok(accepted);
        }
        api.create(&PostParams::default(), &object).await.unwrap();
        let patch = Patch::Merge(json!({"status": manifest["status"]}));
        let params = PatchParams {
            dry_run: true,
            ..PatchParams::default()
        };
        let judged = api.patch_status(&object.name_any(), &params, &patch).await;
        remove(&api, &object).await;
        answer(judged)
    }

    /// A change without effect, to an object that is made for it with the status that it has.
    async fn judge_change(&self, was: &Value, manifest: &Value) -> Result<Value, Refusal> {
        let api = self.api(was);
        let name = object(was).name_any();
        let params = PatchParams::default();
        let mut made = api
            .create(&PostParams::default(), &object(was))
            .await
            .unwrap();
        if !was["status"].is_null() {
            let status = Patch::Merge(json!({"status": was["status"]}));
            made = api.patch_status(&name, &params, &status).await.unwrap();
        }
        let mut after = object(manifest);
        after.metadata.resource_version = made.metadata.resource_version;
        let dry_run = PostParams {
            dry_run: true,
            field_manager: None,
        };
        let mut judged = answer(api.replace(&name, &dry_run, &after).await);
        if judged.is_ok() && !manifest["status"].is_null() {
            let status = Patch::Merge(json!({"status": manifest["status"]}));
            judged = answer(api.patch_status(&name, &params.dry_run(), &status).await);
        }
        remove(&api, &object(was)).await;
        judged
    }
}

fn object(manifest: &Value) -> DynamicObject {
    serde_json::from_value(manifest.clone()).unwrap()
}

async fn remove(api: &Api<DynamicObject>, object: &DynamicObject) {
    let name = object.name_any();
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    let gone = Condition::not(|found: Option<&_>| found.is_some());
    await_condition(api.clone(), &name, gone).await.unwrap();
}

fn answer(outcome: Result<DynamicObject, ::kube::Error>) -> Result<Value, Refusal> {
    match outcome {
        Ok(object) => Ok(serde_json::to_value(object).unwrap()),
        Err(::kube::Error::Api(status)) if (400..500).contains(&status.code) => Err(Refusal {
            causes: status
                .details
                .map(|details| details.causes)
                .unwrap_or_default(),
            message: status.message,
        }),
        Err(error) => panic!("not a verdict: {error}"),
    }
}

/// Whether a server can decide a case with nothing but the definitions: another version than the
/// stored one needs the conversion webhook.
fn needs_no_webhook(case: &Case) -> bool {
    case.by != Some(By::Code) && case.manifest["apiVersion"] != "vitistack.io/v1beta1"
}

/// What is wrong with the verdict of a server that knows the definitions alone.
fn objection_alone(case: &Case, verdict: &Result<Value, Refusal>) -> Option<String> {
    let good = match (case.refusal(), verdict) {
        (None, Ok(_)) => true,
        (Some(refusal), Err(said)) => said.message.contains(refusal),
        _ => false,
    };
    (!good).then(|| format!("{} by the definitions alone\n  {verdict:?}", case.name))
}

/// What is wrong with two verdicts on a case, if anything is.
fn objection(
    case: &Case,
    (real, embedded): (Result<Value, Refusal>, Result<Value, Refusal>),
) -> Option<String> {
    let wrong = match (case.refusal(), &real, &embedded) {
        (None, Ok(real), Ok(embedded)) => {
            let mut wrong = case.misses(real);
            for part in ["spec", "status"] {
                if real[part] != embedded[part] {
                    wrong.push(format!(
                        "{part} differs\n  real      {}\n  embedded  {}",
                        real[part], embedded[part]
                    ));
                }
            }
            wrong.join("\n")
        }
        (Some(refusal), Err(real), Err(embedded))
            if real.message.contains(refusal) && embedded.message.contains(refusal) =>
        {
            real.unclear(&case.manifest).unwrap_or_default()
        }
        (refusal, real, embedded) => {
            format!("  expected  {refusal:?}\n  real      {real:?}\n  embedded  {embedded:?}")
        }
    };
    (!wrong.is_empty()).then(|| format!("{}\n{wrong}", case.name))
}

#[test]
fn both_servers_give_the_same_verdict() {
    let (ours, theirs) = (Sandbox::new(), Sandbox::new());
    let Some(cluster) = Cluster::start(&theirs) else {
        return;
    };
    let up = ours.up(&["--api-only"]);
    let printed =
        process::run(std::process::Command::new(env!("CARGO_BIN_EXE_machinist")).arg("crds"));
    let crds: Vec<CustomResourceDefinition> = serde_saphyr::from_multiple(&printed.stdout).unwrap();
    let cases = cases();
    assert!(cases.len() > 250, "{} cases", cases.len());
    let wrong: Vec<String> = real::runtime().block_on(async {
        let server = |client| Server {
            client,
            crds: &crds,
        };
        let real = server(real::client(&cluster.kubeconfig()).await.unwrap());
        let embedded = server(real::client(&up.kubeconfig()).await.unwrap());
        install_crds(&real.client, &crds).await;
        let mut wrong = Vec::new();
        for case in cases.iter().filter(|case| needs_no_webhook(case)) {
            wrong.extend(objection_alone(case, &real.judge(case).await));
        }
        let operator = operator::start(&theirs, &cluster);
        for kind in ["Machine", "MachineProvider"] {
            let other = json!({"apiVersion": "vitistack.io/v1beta1", "kind": kind});
            real.await_version(&other).await;
        }
        for case in &cases {
            let verdicts = (real.judge(case).await, embedded.judge(case).await);
            wrong.extend(objection(case, verdicts));
        }
        let bounds = bounds(|manifest| real.schema(manifest));
        assert!(
            bounds.len() > 100,
            "only {} bounds were found",
            bounds.len()
        );
        for bound in &bounds {
            let manifest = &bound.manifest;
            let verdicts = [
                real.judge_creation(manifest).await,
                embedded.judge_creation(manifest).await,
            ];
            wrong.extend(bound_objection(bound, verdicts));
        }
        operator.kill();
        wrong
    });
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}
