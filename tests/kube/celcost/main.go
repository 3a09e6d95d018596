// Says of rules what they cost at most by the estimate of kube-apiserver's own packages, or that
// they are refused. Reads the form of crates/apiserver/src/schema/cel/testdata/costs.json and
// writes it with the costs filled in:
//
//	go run ./celcost <costs.json >new.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type vectors struct {
	Schema json.RawMessage     `json:"schema"`
	Rules  [][]json.RawMessage `json:"rules"`
}

func main() {
	var all vectors
	must(json.NewDecoder(os.Stdin).Decode(&all))
	var lines []string
	for _, vector := range all.Rules {
		var rule string
		must(json.Unmarshal(vector[0], &rule))
		answer := "null"
		if cost, taken := estimate(all.Schema, rule); taken {
			answer = fmt.Sprint(cost)
		}
		lines = append(lines, fmt.Sprintf("[%s, %s]", vector[0], answer))
	}
	fmt.Printf("{\"schema\":%s,\n\"rules\":[\n", all.Schema)
	for i, line := range lines {
		end := ",\n"
		if i == len(lines)-1 {
			end = "\n"
		}
		fmt.Print(line, end)
	}
	fmt.Println("]}")
}

// estimate gives the cost of one rule at a node, and whether it compiles at all.
func estimate(schema []byte, rule string) (uint64, bool) {
	var props v1.JSONSchemaProps
	must(json.NewDecoder(bytes.NewReader(schema)).Decode(&props))
	props.XValidations = v1.ValidationRules{{Rule: rule}}
	var internal apiextensions.JSONSchemaProps
	must(v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil))
	node, err := structural.NewStructural(&internal)
	must(err)
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	results, err := cel.Compile(node, model.SchemaDeclType(node, false), celconfig.PerCallLimit, base, cel.StoredExpressionsEnvLoader())
	must(err)
	return results[0].MaxCost, results[0].Error == nil
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
