package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/vg"
)

// charts that the data of a run has something for.
func charts(d Data) []Chart {
	var out []Chart
	for _, e := range Catalogue() {
		if c, missing := e.Make(d); missing == "" {
			out = append(out, c)
		}
	}
	return out
}

func svgOf(t *testing.T, c Chart, o Look) string {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, c, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func pngOf(t *testing.T, c Chart, o Look) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := PNG(&b, c, o); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestSVGIsOneElementWithTitleAndDescription(t *testing.T) {
	for _, c := range charts(runs()["zh"]) {
		svg := svgOf(t, c, Look{})
		if !strings.HasPrefix(svg, "<svg ") {
			t.Errorf("%s begins with %.20q: it must fit into HTML", c.Name, svg)
		}
		if !strings.Contains(svg, "<title>"+c.Title+"</title>") || !strings.Contains(svg, "<desc>") {
			t.Errorf("%s has no title or description", c.Name)
		}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
		}
	}
}

func TestEveryTextInAnSVGCarriesItsWidth(t *testing.T) {
	for _, c := range charts(runs()["hot"]) {
		svg := svgOf(t, c, Look{})
		if texts, widths := strings.Count(svg, "<text "), strings.Count(svg, "textLength="); texts == 0 || texts != widths {
			t.Errorf("%s: %d of %d texts have a width", c.Name, widths, texts)
		}
		if strings.Count(svg, "font-family") != 1 {
			t.Errorf("%s names its fonts more than once", c.Name)
		}
	}
}

func TestDrawingIsTheSameEveryTime(t *testing.T) {
	for _, c := range charts(runs()["three"]) {
		first, second := svgOf(t, c, Look{}), svgOf(t, c, Look{})
		if first != second {
			t.Errorf("%s differs from one drawing to the next", c.Name)
		}
	}
}

func TestPNGHasTwoPixelsForEachLogicalOne(t *testing.T) {
	c := charts(runs()["three"])[0]
	if b := pngOf(t, c, Look{}).Bounds(); b.Dx() != 2*DefaultWidth {
		t.Errorf("default width is %d, want %d", b.Dx(), 2*DefaultWidth)
	}
	if b := pngOf(t, c, Look{Size: Size{Width: 1200, Height: 500}}).Bounds(); b.Dx() != 2400 || b.Dy() != 1000 {
		t.Errorf("1200x500 became %v", b.Max)
	}
}

func TestLookThatCannotBeDrawnIsRefused(t *testing.T) {
	c := charts(runs()["matrix"])[0]
	for _, o := range []Look{{Theme: "sepia"}, {Size: Size{Width: 100}}} {
		if err := SVG(io.Discard, c, o); err == nil || !strings.Contains(err.Error(), c.Name) {
			t.Errorf("look %+v: %v", o, err)
		}
	}
}

func TestAHeightThatIsTooSmallIsAWish(t *testing.T) {
	grown := 0
	for _, c := range charts(runs()["matrix"]) {
		svg := svgOf(t, c, Look{Size: Size{Width: 800, Height: 200}})
		higher := !strings.Contains(svg, ` height="200" viewBox`)
		if says := strings.Contains(svg, "800x200"); higher != says {
			t.Errorf("%s: higher %v, says so %v", c.Name, higher, says)
		}
		if higher {
			grown++
		}
	}
	if grown == 0 {
		t.Error("every chart had room at 200 pixels: nothing was tried")
	}
}

func TestChartThatWouldLieOrPanicIsRefused(t *testing.T) {
	linear := Axis{Scale: Linear, Max: 1}
	for want, p := range map[string]Panel{
		"begins at 0":    {X: linear, Y: Axis{Scale: Log, Max: 1}},
		"reaches from":   {X: linear, Y: Axis{Scale: Linear}},
		"at most 1000":   {X: linear, Y: linear, Series: []Series{{Points: make([]Point, MaxPoints+1)}}},
		"point at 0, +I": {X: linear, Y: linear, Series: []Series{{Points: []Point{{Y: 1 / zero()}}}}},
	} {
		if err := SVG(io.Discard, Chart{Name: "x", Columns: 1, Panels: []Panel{p}}, Look{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if err := SVG(io.Discard, Chart{Name: "x"}, Look{}); err == nil {
		t.Error("a chart without panels is drawn")
	}
}

func zero() float64 { return 0 }

func TestFontHasEveryCharacterOfTheLabels(t *testing.T) {
	face, err := opentype.Parse(notoSans)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var buf sfnt.Buffer
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(b) {
			if g, err := face.GlyphIndex(&buf, r); r > 0x7f && (err != nil || g == 0) {
				t.Errorf("%s: the font lacks %q", f, r)
			}
		}
	}
}

func TestLinesBreakWhereReadersExpect(t *testing.T) {
	sty := style(10, inks[Light].text)
	for _, c := range []struct {
		text  string
		width vg.Length
		want  string
	}{
		{"a short note", 500, "a short note"},
		{"", 500, ""},
		{"set-px-lua/full-jitter", 70, "set-px-lua/|full-jitter"},
		{"延迟随时间变化，越低越好。", 62, "延迟随时间变|化，越低越|好。"},
	} {
		if got := strings.Join(wrap(c.text, sty, c.width), "|"); got != c.want {
			t.Errorf("%q at %g became %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
