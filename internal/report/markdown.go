package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// markdown writes the page for a repository or a ticket: the HTML page's order, with charts as pictures beside it.
func markdown(w io.Writer, d results.RunData, charts []made, o Options) error {
	p := newPage(d, o)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n`%s`\n\n## Verdict\n\n", escape(p.Title), escape(p.Question), p.Run)
	for _, l := range p.Headline {
		fmt.Fprintf(&b, "- %s%s\n", map[string]string{"ok": "**pass** ", "bad": "**fail** ", "doubt": "**?** "}[l.Kind], escape(l.Text))
	}
	b.WriteString("\n## Charts\n\n")
	for _, m := range charts {
		if m.missing == "" {
			fmt.Fprintf(&b, "![%s](%s)\n\n", escape(alternative(m)), chartFile(m.Name, "svg"))
		}
	}
	for _, m := range charts {
		if m.missing != "" {
			fmt.Fprintf(&b, "No chart `%s`: %s\n\n", m.Name, escape(m.missing))
		}
	}
	b.WriteString("## Table\n\n" + p.Table.markdown() + "\n### Outcomes and findings\n\n" + p.Outcomes.markdown())
	b.WriteString("\n## Validity\n\n" + p.Validity.markdown())
	if len(p.Errors.Rows) > 0 {
		b.WriteString("\n### Errors\n\n" + errorsDoc + "\n\n" + p.Errors.markdown())
	}
	section(&b, "Environment", append(p.Machine, p.Servers...))
	section(&b, "Repeat it", p.Repeat)
	section(&b, "Method", p.Method)
	b.WriteString("\n## What this does not say\n\n")
	for _, l := range p.Limits {
		fmt.Fprintf(&b, "- %s\n", escape(l))
	}
	b.WriteString("\n## Raw data\n\n")
	for _, f := range p.Files {
		fmt.Fprintf(&b, "- [%s](%s): %s\n", escape(f.Path), address(f.Path), escape(f.Doc))
	}
	for _, t := range p.TrialFiles {
		fmt.Fprintf(&b, "- %s: [json](%s)", escape(t.Trial), address(t.JSON))
		if t.Log != "" {
			fmt.Fprintf(&b, ", [hlog](%s)", address(t.Log))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, title string, facts []fact) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, f := range facts {
		fmt.Fprintf(b, "- **%s**: %s\n", escape(f.Name), escape(f.Text))
	}
}

// markdown is the table with its footnotes as a list below.
func (t Table) markdown() string {
	var b strings.Builder
	var head, rule []string
	for _, c := range t.Columns {
		head = append(head, strings.TrimSpace(c.Name+" "+c.Unit))
		rule = append(rule, map[bool]string{true: ":--", false: "--:"}[c.Words])
	}
	fmt.Fprintf(&b, "| %s |\n| %s |\n", strings.Join(head, " | "), strings.Join(rule, " | "))
	for _, r := range t.Rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, escape(c.Text)+superscript(c.Marks))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	if len(t.Notes) > 0 {
		b.WriteByte('\n')
	}
	for i, note := range t.Notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, escape(note))
	}
	return b.String()
}

func superscript(marks []int) string {
	if len(marks) == 0 {
		return ""
	}
	return " <sup>" + joined(marks) + "</sup>"
}

// escape keeps text from being read as Markdown or HTML.
func escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer("\\", "\\\\", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]",
	"<", "&lt;", "&", "&amp;", "#", "\\#", "\n", " ", "\r", " ")

// address keeps a path from ending its link.
func address(path string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E").Replace(path)
}
