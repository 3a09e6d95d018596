"""What people do with the official Python client, beyond the tests inside its package: typed and
custom objects, every patch, watches, pages, manifests, informers, leader election, and credentials
that a command prints. Runs against KUBECONFIG, in a namespace of its own."""

import contextlib
import json
import os
import sys
import textwrap
import threading
import time
import uuid

import pytest
import yaml
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.informer import ADDED, DELETED, SharedInformer
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

PATIENCE = 60
GROUP = "python.example.com"


@pytest.fixture(scope="session")
def api():
    # Leader election makes clients of the default configuration.
    config.load_kube_config()
    return client.ApiClient()


@pytest.fixture()
def namespace(api):
    core = client.CoreV1Api(api)
    name = "python-" + uuid.uuid4().hex[:8]
    core.create_namespace({"metadata": {"name": name}})
    yield name
    core.delete_namespace(name)


@pytest.fixture(scope="session")
def gadgets(api):
    """A definition of gadgets, with both subresources."""
    extensions = client.ApiextensionsV1Api(api)
    name = f"gadgets.{GROUP}"
    spec = {"type": "object", "properties": {
        "size": {"type": "integer", "minimum": 1, "default": 3},
        "ports": {"type": "array", "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "required": ["name"], "properties": {
                      "name": {"type": "string"}, "number": {"type": "integer"}}}},
    }}
    status = {"type": "object", "properties": {"size": {"type": "integer"}}}
    extensions.create_custom_resource_definition({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
            "versions": [{
                "name": "v1", "served": True, "storage": True,
                "subresources": {"status": {}, "scale": {
                    "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
                "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": spec, "status": status}}},
            }],
        },
    })
    until(lambda: any(
        c.type == "Established" and c.status == "True"
        for c in extensions.read_custom_resource_definition(name).status.conditions or []))
    custom = client.CustomObjectsApi(api)

    def served():
        # A real server takes a moment between the condition and the first answer.
        try:
            return custom.list_cluster_custom_object(GROUP, "v1", "gadgets") is not None
        except ApiException as error:
            assert error.status == 404
            return False

    until(served)
    yield custom
    extensions.delete_custom_resource_definition(name)


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.1)


def gadget(name, **spec):
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec}


def status_of(act, *arguments, **options):
    with pytest.raises(ApiException) as caught:
        act(*arguments, **options)
    return caught.value.status, json.loads(caught.value.body)["reason"]


def test_typed_objects(api, namespace):
    core = client.CoreV1Api(api)
    made = core.create_namespaced_config_map(
        namespace, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="one"), data={"a": "1"}))
    assert made.metadata.uid and made.metadata.creation_timestamp.tzinfo
    made.data["b"] = "2"
    replaced = core.replace_namespaced_config_map("one", namespace, made)
    assert replaced.data == {"a": "1", "b": "2"}
    # The first answer's version is an old one by now.
    assert status_of(core.replace_namespaced_config_map, "one", namespace, made) == (409, "Conflict")
    assert status_of(core.read_namespaced_config_map, "two", namespace) == (404, "NotFound")
    assert status_of(core.create_namespaced_config_map, namespace, {"metadata": {"name": "one"}}) == (
        409, "AlreadyExists")
    core.delete_namespaced_config_map("one", namespace)
    assert status_of(core.read_namespaced_config_map, "one", namespace) == (404, "NotFound")
    secret = core.create_namespaced_secret(
        namespace, {"metadata": {"generateName": "s-"}, "stringData": {"k": "v"}})
    assert secret.data == {"k": "dg=="} and secret.metadata.name.startswith("s-")


def test_patches_of_built_ins(api, namespace):
    core = client.CoreV1Api(api)
    core.create_namespaced_service_account(
        namespace, {"metadata": {"name": "one"}, "secrets": [{"name": "a"}]})
    # A dictionary is a strategic merge patch, a list a JSON patch.
    merged = core.patch_namespaced_service_account("one", namespace, {"secrets": [{"name": "b"}]})
    assert [s.name for s in merged.secrets] == ["b", "a"]
    deleted = core.patch_namespaced_service_account(
        "one", namespace, {"secrets": [{"name": "b", "$patch": "delete"}]})
    assert [s.name for s in deleted.secrets] == ["a"]
    patched = core.patch_namespaced_service_account(
        "one", namespace, [{"op": "add", "path": "/metadata/labels", "value": {"x": "y"}}])
    assert patched.metadata.labels == {"x": "y"}
    replaced = core.patch_namespaced_service_account(
        "one", namespace, {"secrets": [{"name": "c"}]}, _content_type="application/merge-patch+json")
    assert [s.name for s in replaced.secrets] == ["c"]


def test_custom_objects(gadgets, namespace):
    at = (GROUP, "v1", namespace, "gadgets")
    made = gadgets.create_namespaced_custom_object(*at, gadget("one"))
    assert made["spec"]["size"] == 3
    status, reason = status_of(gadgets.create_namespaced_custom_object, *at, gadget("two", size=0))
    assert (status, reason) == (422, "Invalid")
    # The typed client's first content type for custom objects is a JSON patch or a merge patch.
    patched = gadgets.patch_namespaced_custom_object(*at, "one", {"spec": {"size": 4}})
    assert patched["spec"]["size"] == 4 and patched["metadata"]["generation"] == 2
    gadgets.patch_namespaced_custom_object_status(*at, "one", {"status": {"size": 4}})
    scale = gadgets.get_namespaced_custom_object_scale(*at, "one")
    assert (scale["spec"]["replicas"], scale["status"]["replicas"]) == (4, 4)
    gadgets.patch_namespaced_custom_object_scale(*at, "one", {"spec": {"replicas": 5}})
    one = gadgets.get_namespaced_custom_object(*at, "one")
    assert (one["spec"]["size"], one["status"]["size"]) == (5, 4)
    gadgets.delete_collection_namespaced_custom_object(*at)
    assert gadgets.list_namespaced_custom_object(*at)["items"] == []


def test_apply_by_the_dynamic_client(api, gadgets, namespace):
    gadget_api = dynamic.DynamicClient(api).resources.get(api_version=f"{GROUP}/v1", kind="Gadget")

    def apply(manager, body, **options):
        return gadget_api.server_side_apply(
            namespace=namespace, body=body, field_manager=manager, **options)

    first = gadget("one", size=1, ports=[{"name": "a", "number": 1}])
    assert apply("first", first).metadata.managedFields[0].manager == "first"
    both = apply("second", gadget("one", ports=[{"name": "b", "number": 2}]))
    assert [p.name for p in both.spec.ports] == ["a", "b"]
    with pytest.raises(dynamic.exceptions.ConflictError) as caught:
        apply("second", gadget("one", size=2))
    assert 'conflict with "first"' in json.loads(caught.value.body)["message"]
    assert apply("second", gadget("one", size=2), force_conflicts=True).spec.size == 2
    # What a manager does not say any more, and nobody else says, goes.
    assert [p.name for p in apply("first", gadget("one")).spec.ports or []] == []


def test_lists_by_page(api, namespace):
    core = client.CoreV1Api(api)
    for number in range(5):
        labels = {"odd": str(number % 2)}
        core.create_namespaced_config_map(
            namespace, {"metadata": {"name": f"m{number}", "labels": labels}})
    names, token = [], None
    while token != "":
        page = core.list_namespaced_config_map(
            namespace, limit=2, _continue=token, field_selector="metadata.name!=kube-root-ca.crt")
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert names == [f"m{number}" for number in range(5)]
    odd = core.list_namespaced_config_map(namespace, label_selector="odd=1").items
    assert [item.metadata.name for item in odd] == ["m1", "m3"]
    status = status_of(core.list_namespaced_config_map, namespace, label_selector="a in (")
    assert status == (400, "BadRequest")


def test_watch(api, namespace):
    core = client.CoreV1Api(api)
    first = core.create_namespaced_secret(namespace, {"metadata": {"name": "first"}})
    core.create_namespaced_secret(namespace, {"metadata": {"name": "second"}})
    core.patch_namespaced_secret("second", namespace, {"stringData": {"a": "b"}})
    core.delete_namespaced_secret("second", namespace)
    watcher, seen = watch.Watch(), []
    for event in watcher.stream(
            core.list_namespaced_secret, namespace, timeout_seconds=PATIENCE,
            resource_version=first.metadata.resource_version, field_selector="metadata.name=second"):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            watcher.stop()
    assert seen == [("ADDED", "second"), ("MODIFIED", "second"), ("DELETED", "second")]


def test_manifests(api, gadgets, namespace, tmp_path):
    documents = [
        {"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}},
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "account"}},
        ]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "role"},
         "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]},
    ]
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    utils.create_from_yaml(api, str(path), namespace=namespace)
    assert client.RbacAuthorizationV1Api(api).read_namespaced_role("role", namespace).rules
    with pytest.raises(utils.FailToCreateError) as caught:
        utils.create_from_yaml(api, str(path), namespace=namespace)
    assert [e.status for e in caught.value.api_exceptions] == [409, 409, 409]
    # Applied instead, they may be there already, and custom objects are taken too.
    applied = documents[1:] + [gadget("one", size=7)]
    utils.create_from_yaml(api, yaml_objects=applied, namespace=namespace, apply=True)
    one = gadgets.get_namespaced_custom_object(GROUP, "v1", namespace, "gadgets", "one")
    assert one["spec"]["size"] == 7


def test_informer(api, namespace):
    core = client.CoreV1Api(api)
    core.create_namespaced_secret(namespace, {"metadata": {"name": "before"}})
    events, informer = [], SharedInformer(core.list_namespaced_secret, namespace=namespace)
    for kind in (ADDED, DELETED):
        informer.add_event_handler(
            kind, lambda object, kind=kind: events.append((kind, object.metadata.name)))
    informer.start()
    try:
        until(lambda: (ADDED, "before") in events)
        core.create_namespaced_secret(namespace, {"metadata": {"name": "after"}})
        until(lambda: (ADDED, "after") in events)
        core.delete_namespaced_secret("before", namespace)
        until(lambda: (DELETED, "before") in events)
        assert [object.metadata.name for object in informer.cache.list()] == ["after"]
    finally:
        informer.stop()


class Withdrawn(Exception):
    """The candidate was told to end."""


class Withdrawing(LeaseLock):
    """A lock whose candidate ends once it is told to: the client's loop knows no end of its own."""

    def __init__(self, withdrawn, *arguments):
        super().__init__(*arguments)
        self.withdrawn = withdrawn

    def get(self, name, namespace):
        if self.withdrawn.is_set():
            raise Withdrawn
        return super().get(name, namespace)


def test_leader_election(api, namespace):
    led, threads, withdrawn = [], [], threading.Event()

    def candidate(name):
        settings = electionconfig.Config(
            Withdrawing(withdrawn, "lock", namespace, name),
            lease_duration=6, renew_deadline=4, retry_period=1,
            onstarted_leading=lambda: led.append(name), onstopped_leading=lambda: None)

        def run():
            with contextlib.suppress(Withdrawn):
                leaderelection.LeaderElection(settings).run()

        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()

    try:
        candidate("first")
        until(lambda: led == ["first"])
        candidate("second")
        leases = client.CoordinationV1Api(api)
        before = leases.read_namespaced_lease("lock", namespace).spec.renew_time
        until(lambda: leases.read_namespaced_lease("lock", namespace).spec.renew_time > before)
        assert leases.read_namespaced_lease("lock", namespace).spec.holder_identity == "first"
        assert led == ["first"]
    finally:
        # A thread that logs while the interpreter shuts down aborts it.
        withdrawn.set()
        for thread in threads:
            thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


def test_credentials_from_a_command(api, namespace, tmp_path):
    core = client.CoreV1Api(api)
    core.create_namespaced_service_account(namespace, {"metadata": {"name": "robot"}})
    asked = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
    token = core.create_namespaced_service_account_token("robot", namespace, asked).status.token
    command = tmp_path / "credential.py"
    command.write_text(textwrap.dedent(f"""\
        import json
        print(json.dumps({{
            "apiVersion": "client.authentication.k8s.io/v1",
            "kind": "ExecCredential",
            "status": {{"token": {token!r}}},
        }}))
        """))
    settings = yaml.safe_load(open(os.environ["KUBECONFIG"]))
    for user in settings["users"]:
        user["user"] = {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "interactiveMode": "Never",
            "command": sys.executable,
            "args": [str(command)],
        }}
    robot = config.new_client_from_config_dict(settings)
    whoami = client.AuthenticationV1Api(robot).create_self_subject_review({})
    assert whoami.status.user_info.username == f"system:serviceaccount:{namespace}:robot"
    secrets = client.CoreV1Api(robot).list_namespaced_secret
    assert status_of(secrets, namespace) == (403, "Forbidden")
    rbac = client.RbacAuthorizationV1Api(api)
    rbac.create_namespaced_role_binding(namespace, {
        "metadata": {"name": "robot"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": namespace}],
    })

    def allowed():
        try:
            return secrets(namespace) is not None
        except ApiException as error:
            assert error.status == 403
            return False

    until(allowed)
