"""A pytest plugin that lets the tests inside the official client's package run against KUBECONFIG.

The package holds the tests of its dynamic clients, but not the module `e2e_test.base` that they
take their configuration from: this plugin stands in for it. It also says which of those tests are
left out, and why; a name that no test has any more is an error.
"""

import asyncio
import sys
import types

import pytest

SUITES = [
    "kubernetes.dynamic.test_client",
    "kubernetes.dynamic.test_discovery",
    "kubernetes.aio.dynamic.client_test",
    "kubernetes.aio.dynamic.discovery_test",
]

OLD = "makes a definition of apiextensions.k8s.io/v1beta1, which Kubernetes serves no more since 1.22"
NODES = "asks for Nodes, which a control plane of machines has none of"
PODS = "applies a Pod, which a control plane of machines does not serve"
WORKLOADS = "looks for Deployments, which a control plane of machines does not serve"
CONTROLLERS = "makes ReplicationControllers, which a control plane of machines does not serve"
SERVICES = "writes Services, of which there is one here, and it is read-only"

LEFT_OUT = {
    "dynamic/test_client.py::TestDynamicClient::test_cluster_custom_resources": OLD,
    "dynamic/test_client.py::TestDynamicClient::test_namespaced_custom_resources": OLD,
    "dynamic/test_client.py::TestDynamicClient::test_async_namespaced_custom_resources": OLD,
    "dynamic/test_client.py::TestDynamicClient::test_service_apis": SERVICES,
    "dynamic/test_client.py::TestDynamicClient::test_replication_controller_apis": CONTROLLERS,
    "dynamic/test_client.py::TestDynamicClient::test_node_apis": NODES,
    "dynamic/test_client.py::TestDynamicClient::test_node_apis_partial_object_metadata": NODES,
    "dynamic/test_client.py::TestDynamicClient::test_server_side_apply_api": PODS,
    "dynamic/test_discovery.py::TestDiscoverer::test_init_cache_from_file": NODES,
    "dynamic/test_discovery.py::TestDiscoverer::test_cache_decoder_resource_and_subresource": WORKLOADS,
    "aio/dynamic/client_test.py::TestDynamicClient::test_service_apis": SERVICES,
    "aio/dynamic/client_test.py::TestDynamicClient::test_replication_controller_apis": CONTROLLERS,
    "aio/dynamic/client_test.py::TestDynamicClient::test_node_apis": NODES,
    "aio/dynamic/client_test.py::TestDynamicClient::test_node_apis_partial_object_metadata": NODES,
    "aio/dynamic/client_test.py::TestDynamicClient::test_server_side_apply_api": PODS,
    "aio/dynamic/discovery_test.py::TestDiscoverer::test_init_cache_from_file": NODES,
    "aio/dynamic/discovery_test.py::TestDiscoverer::test_cache_decoder_resource_and_subresource": WORKLOADS,
}


def configuration():
    from kubernetes import client, config

    made = client.Configuration()
    config.load_kube_config(client_configuration=made)
    return made


def aio_configuration():
    from kubernetes.aio import client, config

    made = client.Configuration()
    asyncio.run(config.load_kube_config(client_configuration=made))
    return made


def stand_in(package, make):
    """Puts a module `PACKAGE.e2e_test.base` where the tests look for it."""
    parent = types.ModuleType(f"{package}.e2e_test")
    base = types.ModuleType(f"{package}.e2e_test.base")
    base.get_e2e_configuration = make
    parent.base = base
    sys.modules[parent.__name__] = parent
    sys.modules[base.__name__] = base


def pytest_configure(config):
    stand_in("kubernetes", configuration)
    stand_in("kubernetes.aio", aio_configuration)


def pytest_collection_modifyitems(config, items):
    unknown = set(LEFT_OUT)
    official = False
    for item in items:
        path = item.path.as_posix()
        _, inside, file = path.rpartition("/site-packages/kubernetes/")
        official = official or bool(inside)
        name = "::".join([file, *item.nodeid.split("::")[1:]])
        if inside and name in LEFT_OUT:
            item.add_marker(pytest.mark.skip(reason=LEFT_OUT[name]))
            unknown.discard(name)
    if official and unknown:
        raise pytest.UsageError(f"left out, but there is no such test: {sorted(unknown)}")
