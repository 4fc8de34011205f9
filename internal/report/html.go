package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/lockbench/lockbench/plots"
	"github.com/lockbench/lockbench/results"
)

//go:embed report.html.tmpl
var htmlSource string

var htmlTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"sheet":  func(name, caption string, t Table) numbered { return numbered{Name: name, Caption: caption, Table: t} },
	"causes": func() string { return errorsDoc },
	"inc":    func(i int) int { return i + 1 },
	"words":  func(columns []Column, i int) bool { return columns[i].Words },
	"badge": func(kind string) string {
		return map[string]string{"ok": "pass", "bad": "fail", "doubt": "doubt"}[kind]
	},
}).Parse(htmlSource))

// numbered is a table whose footnotes have anchors of their own.
type numbered struct {
	Name, Caption string
	Table
}

// figure is one chart in both themes. The style sheet shows the one that fits.
type figure struct {
	Name, Title, Doc string
	Stamps, Notes    []string
	Light, Dark      template.HTML
}

type htmlPage struct {
	page
	Figures []figure
	Absent  []fact // charts that could not be made, and why
}

// html writes one file that needs nothing else: no script, no request, charts inside.
func html(w io.Writer, d results.RunData, charts []made, o Options) error {
	p := htmlPage{page: newPage(d, o)}
	figures := make([]figure, len(charts))
	var jobs []func() error
	for i, m := range charts {
		if m.missing != "" {
			p.Absent = append(p.Absent, fact{m.Name, m.missing})
			continue
		}
		figures[i] = figure{Name: m.Name, Title: m.chart.Title, Doc: m.chart.Doc, Stamps: m.chart.Stamps, Notes: m.chart.Notes}
		jobs = append(jobs,
			func() (err error) { figures[i].Light, err = inline(m, plots.Light); return },
			func() (err error) { figures[i].Dark, err = inline(m, plots.Dark); return })
	}
	if err := together(jobs); err != nil {
		return err
	}
	for _, f := range figures {
		if f.Name != "" {
			p.Figures = append(p.Figures, f)
		}
	}
	return htmlTemplate.Execute(w, p)
}

// inline is a drawing as an element of the page. It is safe as HTML: plots escapes every text it draws.
func inline(m made, theme plots.Theme) (template.HTML, error) {
	var b bytes.Buffer
	if err := plots.SVG(&b, m.chart, plots.Look{Theme: theme}); err != nil {
		return "", err
	}
	s := b.String()
	if !strings.HasPrefix(s, "<svg ") {
		return "", fmt.Errorf("chart %s: its drawing does not begin with an svg element", m.Name)
	}
	return template.HTML(s), nil
}
