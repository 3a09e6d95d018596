"""Records what a real kube-apiserver says, in the files that unit tests compare ours with.

    record.py definitions crates/apiserver/src/definition/tests/cases.json
    record.py ratcheting  crates/apiserver/src/schema/tests/ratcheting.json

Each file holds its own questions: they are asked again, and the file is written anew with the
answers. KUBECONFIG names the server (`scripts/kube-up.sh`), which should have no other definitions.
Needs PyYAML, as `MACHINIST_PYTHON` of `scripts/setup.sh --env` has it.
"""

import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request

import yaml

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATIENCE = 60


class Server:
    """The server of a kubeconfig, by the token of its first user."""

    def __init__(self, path):
        with open(path) as file:
            settings = yaml.safe_load(file)
        cluster = settings["clusters"][0]["cluster"]
        self.url = cluster["server"]
        self.token = settings["users"][0]["user"]["token"]
        self.context = ssl.create_default_context(cafile=cluster["certificate-authority"])

    def call(self, method, path, body=None):
        """The code of the answer, and its body."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            try:
                return error.code, json.loads(text)
            except ValueError:
                return error.code, {"message": text}

    def ok(self, method, path, body=None):
        code, answer = self.call(method, path, body)
        assert code < 300, (method, path, answer)
        return answer


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def causes(code, answer):
    return [] if code < 300 else (answer.get("details") or {}).get("causes", [])


def definitions(server, case):
    """What is wrong with a definition."""
    code, answer = server.call("POST", DEFINITIONS + "?dryRun=All", case["definition"])
    found = [[c.get(key, "") for key in ("reason", "field", "message")] for c in causes(code, answer)]
    return {**case, "causes": found}


def definition_of(plural, kind, schema, column):
    """A definition; the column tells by which one tables are made."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.ratchet.io"},
        "spec": {
            "group": "ratchet.io", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": "v1", "served": True, "storage": True,
                "schema": {"openAPIV3Schema": schema},
                "additionalPrinterColumns": [{"name": column, "type": "string", "jsonPath": ".spec.a"}],
            }],
        },
    }


def ratcheting(server, case):
    """What is wrong with an update of an object that was stored under a looser schema."""
    ratcheting.count += 1
    plural, kind = f"r{ratcheting.count}s", f"R{ratcheting.count}"
    objects = f"/apis/ratchet.io/v1/namespaces/default/{plural}"
    at = f"{DEFINITIONS}/{plural}.ratchet.io"

    def in_force(column):
        request = urllib.request.Request(server.url + objects, headers={
            "Authorization": f"Bearer {server.token}",
            "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
        try:
            with urllib.request.urlopen(request, context=server.context, timeout=PATIENCE) as answer:
                columns = json.load(answer)["columnDefinitions"]
        except urllib.error.HTTPError:
            return False
        return any(c["name"] == column for c in columns)

    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    server.ok("POST", DEFINITIONS, definition_of(plural, kind, loose, "Loose"))
    until(lambda: in_force("Loose"))
    body = {"apiVersion": "ratchet.io/v1", "kind": kind, "metadata": {"name": "x"}, **case["old"]}
    stored = server.ok("POST", objects, body)
    strict = definition_of(plural, kind, case["schema"], "Strict")
    live = server.ok("GET", at)
    live["spec"]["versions"] = strict["spec"]["versions"]
    server.ok("PUT", at, live)
    until(lambda: in_force("Strict"))
    stored.update(case["new"])
    stored["metadata"]["labels"] = {"c": "d"}
    code, answer = server.call("PUT", f"{objects}/x", stored)
    found = sorted(f"{c.get('field', '')}: {c['message']}" for c in causes(code, answer))
    server.ok("DELETE", at)
    return {**case, "errors": found}


ratcheting.count = 0


def main():
    how, path = {"definitions": definitions, "ratcheting": ratcheting}[sys.argv[1]], sys.argv[2]
    server = Server(os.environ["KUBECONFIG"])
    with open(path) as file:
        cases = json.load(file)
    lines = ["  " + json.dumps(how(server, case), ensure_ascii=False) for case in cases]
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
