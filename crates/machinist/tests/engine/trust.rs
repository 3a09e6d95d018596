//! An endpoint with a certificate of an authority of its own: believed as far as its provider says,
//! and otherwise a condition that names the endpoint, the fault and the way out.

use std::sync::Arc;

use k8s_openapi::api::events::v1::Event;
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use machinist_api::{
    conditions,
    vitistack::machine_provider::{AuthenticationState, ConnectivityState},
};
use machinist_providers::SimOptions;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    endpoints::{aws, declare, secret, until},
    support::{Kubectl, Sandbox, kube::runtime, wait_for},
    world::World,
};

type Authority = CertifiedIssuer<'static, KeyPair>;

const ZONES: &str = "<DescribeAvailabilityZonesResponse><availabilityZoneInfo><item>\
    <zoneName>us-west-2a</zoneName></item></availabilityZoneInfo></DescribeAvailabilityZonesResponse>";

fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    CertifiedIssuer::self_signed(params, key).expect("an authority")
}

/// EC2, as far as a probe asks for it, with a certificate of this authority.
async fn ec2(authority: &Authority) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, authority).expect("a certificate");
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("they fit");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut request = [0; 8192];
            let _ = stream.read(&mut request).await;
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length";
            let answer = format!("{head}: {}\r\n\r\n{ZONES}", ZONES.len());
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    format!("https://{address}/")
}

fn with_endpoint(url: &str, mut endpoint: Value) -> Value {
    let mut spec = aws(url);
    endpoint["url"] = url.into();
    spec["config"] = json!({"timeout": "30s"});
    spec["endpoint"] = endpoint;
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_is_believed_as_far_as_its_provider_says() {
    let world = World::new(SimOptions::default()).await;
    let keys = json!({"access-key-id": "AKIA", "secret-access-key": "not-to-be-seen"});
    secret(&world, "keys", keys).await;
    let (ours, theirs) = (authority(), authority());
    let url = ec2(&ours).await;
    let good = json!({"caBundle": ours.pem()});
    declare(&world, "good", with_endpoint(&url, good.clone())).await;
    let provider = until(&world, "good", "Connected", "us-west-2a").await;
    let status = provider.status.expect("a status");
    assert!(conditions::find(&status.conditions, "EndpointVerified").is_none());
    for (name, endpoint, words) in [
        ("none", json!({}), "name it in spec.endpoint.caBundle"),
        (
            "other",
            json!({"caBundle": theirs.pem()}),
            "spec.endpoint.caBundle does not have it",
        ),
    ] {
        declare(&world, name, with_endpoint(&url, endpoint)).await;
        let provider = until(&world, name, "EndpointUntrusted", words).await;
        let status = provider.status.expect("a status");
        let ready = conditions::find(&status.conditions, "Ready").expect("it");
        assert!(ready.message.contains(&url), "{}", ready.message);
        let connectivity = status.connectivity.expect("whether it is reached");
        assert_eq!(connectivity.status, Some(ConnectivityState::Error));
        assert_eq!(connectivity.endpoint.as_deref(), Some(url.as_str()));
        let authentication = status.authentication.expect("whether it is known");
        assert_eq!(authentication.status, Some(AuthenticationState::Error));
    }
    // The way out leads out.
    let patch = json!({"spec": {"endpoint": good}});
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    let patched = world.providers().patch("none", &params, &patch).await;
    patched.expect("patched");
    until(&world, "none", "Connected", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_checks_nobody_works_and_says_so() {
    let world = World::new(SimOptions::default()).await;
    let keys = json!({"access-key-id": "AKIA", "secret-access-key": "not-to-be-seen"});
    secret(&world, "keys", keys).await;
    let url = ec2(&authority()).await;
    for (name, field) in [
        ("shape-b", "insecureSkipTLSVerify"),
        ("shape-c", "insecureSkipVerify"),
    ] {
        declare(&world, name, with_endpoint(&url, json!({field: true}))).await;
        let provider = until(&world, name, "Connected", "").await;
        let all = provider.status.expect("a status").conditions;
        let verified = conditions::find(&all, "EndpointVerified").expect("a warning");
        assert_eq!(
            (verified.status.as_str(), verified.reason.as_str()),
            ("False", "VerificationSkipped")
        );
        assert!(verified.message.contains("spec.endpoint.caBundle"));
        let events: Api<Event> = Api::default_namespaced(world.client.clone());
        let events = events.list(&ListParams::default()).await.expect("events");
        let told = events.items.iter().any(|event| {
            let about = event.regarding.as_ref().and_then(|of| of.name.as_deref());
            about == Some(name) && event.reason.as_deref() == Some("VerificationSkipped")
        });
        assert!(told, "{name} has no event of it");
    }
    let bad = json!({"caBundle": "my authority"});
    declare(&world, "bad", with_endpoint(&url, bad)).await;
    until(&world, "bad", "Rejected", "spec.endpoint.caBundle").await;
}

/// In a process of its own, whose host trusts the endpoint's authority.
#[test]
fn a_declared_authority_counts_instead_of_those_of_the_host() {
    let sandbox = Sandbox::new();
    let (of_host, other) = (authority(), authority());
    let runtime = runtime();
    let url = runtime.block_on(ec2(&of_host));
    let trusted = sandbox.write("trusted.pem", &of_host.pem());
    let mut command = sandbox.machinist("up");
    command.env("SSL_CERT_FILE", trusted);
    let up = sandbox.serve(&mut command);
    let Some(kubectl) = Kubectl::current(&sandbox, &up.kubeconfig()) else {
        return;
    };
    let keys = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"},
        "stringData": {"access-key-id": "AKIA", "secret-access-key": "not-to-be-seen"},
    });
    kubectl.feed_ok("apply", &keys.to_string());
    for (name, endpoint, reason) in [
        ("usual", json!({}), "Connected"),
        (
            "declared",
            json!({"caBundle": other.pem()}),
            "EndpointUntrusted",
        ),
    ] {
        let provider = json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
            "metadata": {"name": name}, "spec": with_endpoint(&url, endpoint),
        });
        kubectl.feed_ok("apply", &provider.to_string());
        wait_for("the provider to be judged", || {
            let provider = kubectl.get(&format!("machineprovider {name}"));
            let all = provider["status"]["conditions"].as_array().cloned();
            let ready = { all }
                .into_iter()
                .flatten()
                .find(|one| one["type"] == "Ready");
            let is_judged = ready.is_some_and(|ready| ready["reason"] == reason);
            is_judged.then_some(()).ok_or(provider)
        });
    }
}
