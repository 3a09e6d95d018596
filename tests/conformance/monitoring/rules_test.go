// Package monitoring reads the chart's alert rules as Prometheus and its dashboard as Grafana reads
// them, and looks whether the operator publishes what they ask for; and reads the file in which machines
// are listed as Prometheus' discovery reads it.
package monitoring

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

const (
	files     = "../../../deploy/charts/machinist/files/"
	published = "../../../crates/engine/src/metrics.rs"
)

// asks checks one query: that it parses, and that every metric in it is published.
func asks(t *testing.T, where, query string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %s: %v", where, query, err)
		return
	}
	source, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			name := selector.Name
			for _, end := range []string{"_total", "_bucket", "_count", "_sum"} {
				name = strings.TrimSuffix(name, end)
			}
			if !strings.Contains(string(source), `"`+name+`"`) {
				t.Errorf("%s: nobody publishes %s", where, selector.Name)
			}
		}
		return nil
	})
}

func TestAlertRulesLoad(t *testing.T) {
	read := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.ParseFile(files+"alerts.yaml", false, model.LegacyValidation, read, slog.Default())
	for _, err := range errs {
		t.Error(err)
	}
	if t.Failed() {
		return
	}
	rules := 0
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			rules++
			asks(t, rule.Alert, rule.Expr)
		}
	}
	if rules < 6 {
		t.Errorf("there are only %d rules", rules)
	}
}

func TestDashboardQueriesParse(t *testing.T) {
	text, err := os.ReadFile(files + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	queries := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries++
			// What Grafana puts in before it asks.
			asks(t, panel.Title, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
		}
	}
	if dashboard.Title == "" || queries < 9 {
		t.Errorf("%q asks %d queries", dashboard.Title, queries)
	}
}

// Grafana's own types of a dashboard, its panels and its queries: what is missing, of another type than
// it expects or, for the dashboard itself, unknown to it is an error.
func TestDashboardIsOneOfGrafana(t *testing.T) {
	text, err := os.ReadFile(files + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	plugins.RegisterDefaultPlugins()
	var read dashboard.Dashboard
	if err := read.UnmarshalJSONStrict(text); err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Error(err)
	}
	ids := map[uint32]bool{}
	for _, one := range read.Panels {
		panel := one.Panel
		if panel == nil || panel.Id == nil || panel.GridPos == nil || ids[*panel.Id] {
			t.Fatalf("a panel without an id of its own or without a place: %+v", one)
		}
		ids[*panel.Id] = true
		if place := panel.GridPos; place.X+place.W > 24 {
			t.Errorf("panel %d reaches beyond the 24 columns", *panel.Id)
		}
	}
	if len(ids) < 8 {
		t.Errorf("there are only %d panels", len(ids))
	}
}

func TestMachinesAreTargets(t *testing.T) {
	text, err := os.ReadFile("targets.json")
	if err != nil {
		t.Fatal(err)
	}
	var groups []*targetgroup.Group
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	if len(groups) != 2 {
		t.Fatalf("there are %d groups", len(groups))
	}
	for _, group := range groups {
		if err := group.Labels.Validate(); err != nil {
			t.Error(err)
		}
		for _, target := range group.Targets {
			if err := target.Validate(); err != nil {
				t.Error(err)
			}
		}
	}
	first := groups[0]
	if got := first.Targets[0][model.AddressLabel]; got != "192.0.2.1:8080" {
		t.Errorf("the first is at %q", got)
	}
	if got := first.Labels["machine"]; got != "web-01" {
		t.Errorf("the first is %q", got)
	}
}
