// Says of rules what kube-apiserver's own packages make of them: the type of fault, or what the rule costs at most.
package main

import (
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

type oneCase struct {
	Schema json.RawMessage `json:"schema"`
	Rule   string          `json:"rule"`
	Cost   *uint64         `json:"cost,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func main() {
	var cases []oneCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	for i := range cases {
		c := &cases[i]
		var props v1.JSONSchemaProps
		if err := json.Unmarshal(c.Schema, &props); err != nil {
			panic(err)
		}
		props.XValidations = v1.ValidationRules{{Rule: c.Rule}}
		var internal apiextensions.JSONSchemaProps
		if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
			panic(err)
		}
		s, err := structural.NewStructural(&internal)
		if err != nil {
			panic(err)
		}
		results, err := cel.Compile(s, model.SchemaDeclType(s, false), celconfig.PerCallLimit,
			environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.StoredExpressionsEnvLoader())
		if err != nil {
			c.Error = err.Error()
			continue
		}
		if results[0].Error != nil {
			c.Error = results[0].Error.Detail
			continue
		}
		cost := results[0].MaxCost
		c.Cost = &cost
	}
	out, _ := json.Marshal(cases)
	fmt.Println(string(out))
}
