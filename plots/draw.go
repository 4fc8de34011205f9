package plots

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Look of a drawing. The zero value is light, 850 logical pixels wide (what a README shows) and as high as it needs.
type Look struct {
	Theme Theme
	Size  Size
}

// Theme of a drawing; "" is Light.
type Theme string

const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

// Size in logical pixels; a PNG has twice as many. 0: the default.
type Size struct{ Width, Height int }

// DefaultWidth in logical pixels.
const DefaultWidth = 850

// SVG writes c as one <svg> element, fit for a file and for HTML. Text stays text: every string carries the width
// it was laid out with, so that a browser without our font fits its own into the same place.
func SVG(w io.Writer, c Chart, o Look) error {
	s, err := newSheet(c, o)
	if err != nil {
		return err
	}
	canvas := &svgCanvas{Canvas: vgsvg.NewWith(vgsvg.UseWH(s.w, s.h))}
	s.draw(draw.NewCanvas(canvas, s.w, s.h))
	var raw bytes.Buffer
	if _, err := canvas.WriteTo(&raw); err != nil {
		return fmt.Errorf("draw %s: %w", c.Name, err)
	}
	_, err = w.Write(canvas.finish(raw.Bytes(), s))
	return err
}

// PNG writes c as a picture of two pixels for each logical one.
func PNG(w io.Writer, c Chart, o Look) error {
	s, err := newSheet(c, o)
	if err != nil {
		return err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(s.w, s.h), vgimg.UseDPI(2*pointsPerInch), vgimg.UseBackgroundColor(s.ink.paper))
	s.draw(draw.NewCanvas(canvas, s.w, s.h))
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	return enc.Encode(w, fewColours(canvas.Image()))
}

// fewColours maps a drawing to the 256 colours it uses most, equal to 5 bits a channel: a third of the bytes and half
// of the time of a true-colour file, and no visible difference, since a chart is paper, ink and smoothed edges.
func fewColours(img image.Image) image.Image {
	full, ok := img.(*image.RGBA)
	if !ok {
		return img
	}
	var (
		count [1 << 15]int
		first [1 << 15]color.RGBA
		used  []int
	)
	for i := 0; i < len(full.Pix); i += 4 {
		k := bin(full.Pix[i:])
		if count[k]++; count[k] == 1 {
			first[k] = color.RGBA{R: full.Pix[i], G: full.Pix[i+1], B: full.Pix[i+2], A: 255}
			used = append(used, k)
		}
	}
	slices.SortStableFunc(used, func(a, b int) int { return count[b] - count[a] })
	few := image.NewPaletted(full.Rect, nil)
	for _, k := range used[:min(len(used), 256)] {
		few.Palette = append(few.Palette, first[k])
	}
	var index [1 << 15]uint8
	for _, k := range used {
		index[k] = uint8(few.Palette.Index(first[k]))
	}
	for i := range few.Pix {
		few.Pix[i] = index[bin(full.Pix[4*i:])]
	}
	return few
}

func bin(p []uint8) int { return int(p[0]>>3)<<10 | int(p[1]>>3)<<5 | int(p[2]>>3) }

// pointsPerInch: one point of vg is one logical pixel here.
const pointsPerInch = 72

// svgCanvas remembers the width of each string in the order of drawing.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

func (c *svgCanvas) FillString(f font.Face, pt vg.Point, s string) {
	c.widths = append(c.widths, f.Width(s))
	c.Canvas.FillString(f, pt, s)
}

// families name fonts that look like ours; the last is always there.
const families = "'Noto Sans SC','Noto Sans CJK SC','Source Han Sans SC','PingFang SC','Microsoft YaHei','Helvetica Neue',Arial,sans-serif"

var (
	svgHead = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgText = regexp.MustCompile(`<text ([^>]*?)\s*style="font-family:[^"]*?font-style:[a-z]+;?`)
)

// finish gives the drawing a size in pixels, a title and description, its fonts by name and the widths of its text.
func (c *svgCanvas) finish(raw []byte, s *sheet) []byte {
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%.0f" height="%.0f" viewBox="0 0 %[1]g %[2]g" font-family="%s">`+
		"\n<title>%s</title>\n<desc>%s</desc>",
		float64(s.w), float64(s.h), families, html.EscapeString(s.c.Title),
		html.EscapeString(strings.Join(append([]string{s.c.Doc}, s.c.Notes...), " ")))
	raw = svgHead.ReplaceAllLiteral(raw, []byte(head))
	n := -1
	return svgText.ReplaceAllFunc(raw, func(m []byte) []byte {
		n++
		at := svgText.FindSubmatch(m)[1]
		return fmt.Appendf(nil, `<text %s textLength="%.5g" lengthAdjust="spacingAndGlyphs" style="`, at, float64(c.widths[n]))
	})
}

// Fonts: one face for all scripts, so that what is measured is what is drawn.
//
//go:embed fonts/NotoSansSC-subset.otf
var notoSans []byte

var fonts = sync.OnceValue(func() *font.Cache {
	face, err := opentype.Parse(notoSans)
	if err != nil {
		panic(fmt.Sprintf("embedded font: %v", err)) // the file is part of the program
	}
	return font.NewCache(font.Collection{{Font: font.Font{Typeface: "Noto Sans SC"}, Face: face}})
})

// Sizes of text in logical pixels.
const (
	titleSize = 17
	panelSize = 12
	labelSize = 11
	tickSize  = 10
	noteSize  = 10
	stampSize = 9.5
)

func style(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.Font{Typeface: "Noto Sans SC", Size: size}, XAlign: text.XLeft, YAlign: text.YTop,
		Handler: typesetter{text.Plain{Fonts: fonts()}}}
}

// typesetter sets lines 1.2 of the size apart. The plain handler takes ascent and height from the font, and those of
// a Chinese font are so large that text would stand half a line below its place.
type typesetter struct{ text.Plain }

// Shares of the font size above and below the baseline.
const (
	ascent  = 0.93
	descent = 0.27
)

// Extents without descent: the axes of plot add it to compensate for what the plain handler does.
func (typesetter) Extents(f font.Font) font.Extents {
	return font.Extents{Ascent: ascent * f.Size, Height: ascent * f.Size}
}

func (t typesetter) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	face := t.Fonts.Lookup(f, f.Size)
	return face.Width(txt), ascent * f.Size, descent * f.Size
}

func (t typesetter) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	if txt == "" {
		return
	}
	face := t.Fonts.Lookup(sty.Font, sty.Font.Size)
	c.SetColor(sty.Color)
	c.Push()
	defer c.Pop()
	c.Translate(pt)
	c.Rotate(sty.Rotation)
	y := sty.Height(txt)*vg.Length(sty.YAlign+1) - ascent*sty.Font.Size
	for _, line := range t.Lines(txt) {
		c.FillString(face, vg.Point{X: vg.Length(sty.XAlign) * face.Width(line), Y: y}, line)
		y -= (ascent + descent) * sty.Font.Size
	}
}

func aligned(t text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	t.XAlign, t.YAlign = x, y
	return t
}

// ink is the colours of a theme.
type ink struct {
	paper, text, muted, grid, alarm color.RGBA
	contrast                        float64 // least contrast of a line to the paper
}

var inks = map[Theme]ink{
	Light: {paper: rgb("#FFFFFF"), text: rgb("#1F2328"), muted: rgb("#59636E"), grid: rgb("#E3E6EA"), alarm: rgb("#B3261E"), contrast: 2},
	Dark:  {paper: rgb("#0D1117"), text: rgb("#E6EDF3"), muted: rgb("#9198A1"), grid: rgb("#2A3038"), alarm: rgb("#FF8A80"), contrast: 3},
}

func rgb(hex string) color.RGBA {
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	if err != nil {
		return color.RGBA{A: 255}
	}
	return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 255}
}

// mix goes from a (share 1) to b (share 0).
func mix(a, b color.RGBA, share float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*share + float64(y)*(1-share))) }
	return color.RGBA{R: m(a.R, b.R), G: m(a.G, b.G), B: m(a.B, b.B), A: 255}
}

// luminance and contrast as WCAG 2 defines them.
func luminance(c color.RGBA) float64 {
	lin := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}

func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// colour of a style on the paper, moved towards the text colour until it shows.
func (i ink) colour(s Style) color.RGBA {
	c := rgb(s.Colour)
	for share := 1.0; share > 0 && contrast(c, i.paper) < i.contrast; share -= 0.1 {
		c = mix(rgb(s.Colour), i.text, share)
	}
	return c
}

// Distances in logical pixels.
const (
	margin  = 14
	gap     = 16 // between panels
	leading = 1.35
)

// sheet is a chart with its layout.
type sheet struct {
	c        Chart
	ink      ink
	w, h     vg.Length
	legend   [][]entry // rows
	notes    []string  // lines
	source   []string
	title    []string
	rows     []vg.Length // heights of the rows of panels
	occupied []vg.Rectangle
}

type entry struct {
	Series
	width vg.Length
}

func newSheet(c Chart, o Look) (*sheet, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("draw %s: %w", c.Name, err)
	}
	if o.Theme == "" {
		o.Theme = Light
	}
	i, ok := inks[o.Theme]
	if !ok {
		return nil, fmt.Errorf("draw %s: theme %q is not light or dark", c.Name, o.Theme)
	}
	if o.Size.Width == 0 {
		o.Size.Width = DefaultWidth
	}
	s := &sheet{c: c, ink: i, w: vg.Length(o.Size.Width)}
	return s, s.layout(o.Size)
}

// check refuses what cannot be drawn truthfully.
func (c Chart) check() error {
	if len(c.Panels) == 0 || c.Columns < 1 {
		return errors.New("chart has no panels")
	}
	for _, p := range c.Panels {
		for _, a := range []Axis{p.X, p.Y} {
			switch {
			case !(a.Max > a.Min) || math.IsInf(a.Max-a.Min, 0):
				return fmt.Errorf("axis %q reaches from %g to %g", a.Label, a.Min, a.Max)
			case a.Min <= 0 && (a.Scale == Log || a.Scale == Percentile):
				return fmt.Errorf("logarithmic axis %q begins at %g", a.Label, a.Min)
			}
		}
		for _, s := range p.Series {
			if len(s.Points) > MaxPoints {
				return fmt.Errorf("series %q has %d points, at most %d can be drawn", s.Name, len(s.Points), MaxPoints)
			}
			for _, pt := range s.Points {
				if v := pt.X + pt.Y; math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("series %q has a point at %g, %g", s.Name, pt.X, pt.Y)
				}
			}
		}
	}
	return nil
}

const (
	leastWidth = 320
	leastPanel = 70 // height of a row of panels
)

// layout finds the height, or fits the panels into the one that is asked for. A height that leaves no room for them is
// a wish that cannot be met: the chart is drawn at the least one that does, and says so.
func (s *sheet) layout(z Size) error {
	if z.Width < leastWidth {
		return fmt.Errorf("draw %s: width %d is below %d", s.c.Name, z.Width, leastWidth)
	}
	inner := s.w - 2*margin
	s.title = wrap(s.c.Title, style(titleSize, s.ink.text), inner)
	s.source = wrap(s.c.Source, style(noteSize, s.ink.muted), inner)
	for _, n := range s.c.Notes {
		s.notes = append(s.notes, wrap(n, style(noteSize, s.ink.muted), inner)...)
	}
	s.legend = s.legendRows(inner)
	var panels vg.Length
	for row := range slices.Chunk(s.c.Panels, s.c.Columns) {
		h := vg.Length(leastPanel)
		for _, p := range row {
			h = max(h, vg.Length(p.Height))
		}
		s.rows = append(s.rows, h)
		panels += h
	}
	rest := s.above() + s.below() + gap*vg.Length(len(s.rows)-1)
	s.h = vg.Length(math.Ceil(float64(rest + panels)))
	if z.Height == 0 {
		return nil
	}
	s.h = vg.Length(z.Height)
	scale := (s.h - rest) / panels
	if least := leastPanel / slices.Min(s.rows); scale < least {
		scale = least
		s.grow(z, rest+panels*least, inner)
	}
	for i := range s.rows {
		s.rows[i] *= scale
	}
	return nil
}

// grow makes the chart as high as it needs to be, with a note below that takes room of its own.
func (s *sheet) grow(z Size, needed, inner vg.Length) {
	below := s.below()
	note := fmt.Sprintf("Higher than the %dx%d asked for, which leaves no room for the plot.", z.Width, z.Height)
	s.notes = append(s.notes, wrap(note, style(noteSize, s.ink.muted), inner)...)
	s.h = vg.Length(math.Ceil(float64(needed + s.below() - below)))
}

func lineHeight(size float64) vg.Length { return vg.Length(size * leading) }

// above the panels: title, stamps, source, legend.
func (s *sheet) above() vg.Length {
	h := margin + lineHeight(titleSize)*vg.Length(len(s.title)) + lineHeight(noteSize)*vg.Length(len(s.source)) + 10
	if len(s.c.Stamps) > 0 {
		h += 24
	}
	return h + lineHeight(labelSize)*vg.Length(len(s.legend)) + 4
}

// below the panels: notes.
func (s *sheet) below() vg.Length {
	if len(s.notes) == 0 {
		return margin
	}
	return margin + 8 + lineHeight(noteSize)*vg.Length(len(s.notes))
}

const keyWidth = 30

// legendRows flow over the width of the chart, above the panels, where they hide nothing.
func (s *sheet) legendRows(inner vg.Length) [][]entry {
	var (
		rows [][]entry
		seen = map[string]bool{}
		used vg.Length
		sty  = style(labelSize, s.ink.text)
	)
	for _, p := range s.c.Panels {
		for _, se := range p.Series {
			if se.Name == "" || seen[se.Name] {
				continue
			}
			seen[se.Name] = true
			e := entry{Series: se, width: keyWidth + 6 + sty.Width(se.Name) + 18}
			if len(rows) == 0 || used+e.width > inner+18 {
				rows, used = append(rows, nil), 0
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], e)
			used += e.width
		}
	}
	return rows
}

// wrap breaks a text into lines no wider than w: at blanks, after slashes and commas, and between Chinese characters.
func wrap(txt string, sty text.Style, w vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range words(txt) {
		if line != "" && sty.Width(strings.TrimRight(line+word, " ")) > w {
			lines = append(lines, strings.TrimRight(line, " "))
			line = ""
		}
		line += word
	}
	if line = strings.TrimRight(line, " "); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// words are the pieces between which a line may break. A closing mark stays with what it closes.
func words(txt string) []string {
	var out []string
	piece := ""
	for i, r := range txt {
		piece += string(r)
		next, _ := utf8.DecodeRuneInString(txt[i+utf8.RuneLen(r):])
		if r == ' ' || r == '/' || r == ',' || r >= 0x2E80 || next >= 0x2E80 {
			if strings.ContainsRune("，。、；：！？）》”", next) {
				continue
			}
			out, piece = append(out, piece), ""
		}
	}
	if piece != "" {
		out = append(out, piece)
	}
	return out
}

func (s *sheet) draw(c draw.Canvas) {
	c.SetColor(s.ink.paper)
	c.Fill(c.Rectangle.Path())
	y := c.Max.Y - margin
	y = s.lines(c, s.title, style(titleSize, s.ink.text), margin, y)
	y = s.lines(c, s.source, style(noteSize, s.ink.muted), margin, y)
	y = s.stamps(c, y) - 10
	s.drawLegend(c, y)
	s.drawPanels(draw.Crop(c, margin, -margin, s.below(), -s.above()))
	s.lines(c, s.notes, style(noteSize, s.ink.muted), margin, s.below()-8)
}

// lines of text downwards from y; it returns where the next would go.
func (s *sheet) lines(c draw.Canvas, lines []string, sty text.Style, x, y vg.Length) vg.Length {
	for _, l := range lines {
		c.FillText(sty, vg.Point{X: x, Y: y}, l)
		y -= lineHeight(float64(sty.Font.Size))
	}
	return y
}

// stamps are framed words that a crop of the picture cannot easily lose: they stand between title and plot.
func (s *sheet) stamps(c draw.Canvas, y vg.Length) vg.Length {
	if len(s.c.Stamps) == 0 {
		return y
	}
	x := vg.Length(margin)
	for _, t := range s.c.Stamps {
		sty := aligned(style(labelSize, s.ink.alarm), text.XLeft, text.YCenter)
		w := sty.Width(t) + 12
		box := vg.Rectangle{Min: vg.Point{X: x, Y: y - 21}, Max: vg.Point{X: x + w, Y: y - 4}}
		c.SetLineStyle(draw.LineStyle{Color: s.ink.alarm, Width: 1.2})
		c.Stroke(box.Path())
		c.FillText(sty, vg.Point{X: x + 6, Y: box.Min.Y + 8.5}, t)
		x += w + 8
	}
	return y - 24
}

func (s *sheet) drawLegend(c draw.Canvas, y vg.Length) {
	sty := aligned(style(labelSize, s.ink.text), text.XLeft, text.YCenter)
	for _, row := range s.legend {
		x := vg.Length(margin)
		mid := y - lineHeight(labelSize)/2
		for _, e := range row {
			s.key(c, e.Series, vg.Point{X: x, Y: mid})
			c.FillText(sty, vg.Point{X: x + keyWidth + 6, Y: mid}, e.Name)
			x += e.width
		}
		y -= lineHeight(labelSize)
	}
}

// key is the sample of a series in the legend, from pt to the right.
func (s *sheet) key(c draw.Canvas, se Series, pt vg.Point) {
	col := s.ink.colour(se.Style)
	if se.Kind == Bars {
		s.box(c, vg.Rectangle{Min: vg.Point{X: pt.X + 8, Y: pt.Y - 5}, Max: vg.Point{X: pt.X + keyWidth, Y: pt.Y + 5}}, se.Style, false)
		return
	}
	if se.Kind == Line {
		c.StrokeLine2(lineStyle(col, se.Style.Dash), pt.X, pt.Y, pt.X+keyWidth, pt.Y)
	}
	if slices.ContainsFunc(se.Points, func(p Point) bool { return p.Mark }) {
		s.marker(c, se.Style, vg.Point{X: pt.X + keyWidth/2, Y: pt.Y}, 3.6, false)
	}
}

var dashLengths = map[string][]vg.Length{
	"dash": {6, 3}, "dot": {1.8, 2.6}, "dash-dot": {6, 2.6, 1.8, 2.6}, "long": {11, 3.5},
	"dash-dot-dot": {6, 2.4, 1.8, 2.4, 1.8, 2.4}, "long-dot": {11, 2.6, 1.8, 2.6},
}

func lineStyle(c color.Color, dash string) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: 1.7, Dashes: dashLengths[dash]}
}

// fillShare: bars of one colour are told apart by how full it is, as lines are by their dash.
var fillShare = map[string]float64{
	"": 1, "solid": 1, "dash": 0.55, "dot": 0.22, "dash-dot": 0.78, "long": 0.4, "dash-dot-dot": 0.12, "long-dot": 0.66,
}

// box is a bar; a hollow one has a dashed frame only.
func (s *sheet) box(c draw.Canvas, r vg.Rectangle, st Style, hollow bool) {
	col := s.ink.colour(st)
	frame := draw.LineStyle{Color: col, Width: 1}
	if hollow {
		frame.Dashes = []vg.Length{3, 2}
	} else {
		c.SetColor(mix(col, s.ink.paper, fillShare[st.Dash]))
		c.Fill(r.Path())
	}
	c.SetLineStyle(frame)
	c.Stroke(r.Path())
}

// shapes of markers around 0,0 with radius 1; the others are strokes.
var shapes = map[string][]vg.Point{
	"square":   {{X: -0.88, Y: -0.88}, {X: 0.88, Y: -0.88}, {X: 0.88, Y: 0.88}, {X: -0.88, Y: 0.88}},
	"triangle": {{X: -1.05, Y: -0.75}, {X: 1.05, Y: -0.75}, {X: 0, Y: 1.15}},
	"down":     {{X: -1.05, Y: 0.75}, {X: 1.05, Y: 0.75}, {X: 0, Y: -1.15}},
	"diamond":  {{X: 0, Y: -1.25}, {X: 1.05, Y: 0}, {X: 0, Y: 1.25}, {X: -1.05, Y: 0}},
}

// strokes of the markers that have no inside.
var strokes = map[string][]vg.Point{
	"cross": {{X: -0.85, Y: -0.85}, {X: 0.85, Y: 0.85}, {X: -0.85, Y: 0.85}, {X: 0.85, Y: -0.85}},
	"plus":  {{X: -1.1, Y: 0}, {X: 1.1, Y: 0}, {X: 0, Y: -1.1}, {X: 0, Y: 1.1}},
}

// marker at pt; a hollow cross or plus stands in a ring.
func (s *sheet) marker(c draw.Canvas, st Style, pt vg.Point, r vg.Length, hollow bool) {
	col := s.ink.colour(st)
	lines := strokes[st.Marker]
	if lines == nil || hollow {
		path := outline(st.Marker, pt, r)
		c.SetColor(col)
		if hollow {
			c.SetColor(s.ink.paper)
		}
		c.Fill(path)
		edge := draw.LineStyle{Color: s.ink.paper, Width: 0.6}
		if hollow {
			edge = draw.LineStyle{Color: col, Width: 1.4}
		}
		c.SetLineStyle(edge)
		c.Stroke(path)
	}
	if hollow {
		r *= 0.6
	}
	for i := 0; i+1 < len(lines); i += 2 {
		a, b := pt.Add(lines[i].Scale(r)), pt.Add(lines[i+1].Scale(r))
		c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.6}, a.X, a.Y, b.X, b.Y)
	}
}

func outline(shape string, pt vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	corners := shapes[shape]
	if corners == nil {
		p.Move(vg.Point{X: pt.X + r, Y: pt.Y})
		p.Arc(pt, r, 0, 2*math.Pi)
		p.Close()
		return p
	}
	p.Move(pt.Add(corners[0].Scale(r)))
	for _, q := range corners[1:] {
		p.Line(pt.Add(q.Scale(r)))
	}
	p.Close()
	return p
}

// pads are the widths of axes and labels around the data of a panel.
type pads struct{ left, right, bottom, top vg.Length }

// drawPanels lays the panels out so that the data areas of a column are equally wide and start together, and those of
// a row are equally high.
func (s *sheet) drawPanels(c draw.Canvas) {
	cols := s.c.Columns
	var (
		plots  = make([]*plot.Plot, len(s.c.Panels))
		pad    = make([]pads, len(s.c.Panels))
		column = make([]pads, cols)
		guess  = (c.Max.X - c.Min.X - gap*vg.Length(cols-1)) / vg.Length(cols)
	)
	for i, p := range s.c.Panels {
		plots[i] = s.plot(p, guess, s.rows[i/cols])
		pad[i] = measure(plots[i], draw.NewCanvas(c, guess, s.rows[i/cols]))
		pad[i].right += s.valueWidth(p)
		pad[i].left += labelRoom(s.yLabel(i))
		k := &column[i%cols]
		k.left, k.right = max(k.left, pad[i].left), max(k.right, pad[i].right)
	}
	width := c.Max.X - c.Min.X - gap*vg.Length(cols-1)
	for _, k := range column {
		width -= k.left + k.right
	}
	width /= vg.Length(cols)
	y := c.Max.Y
	for row := range s.rows {
		s.drawRow(c, plots, pad, column, row, width, y)
		y -= s.rows[row] + gap
	}
}

func (s *sheet) drawRow(c draw.Canvas, plots []*plot.Plot, pad, column []pads, row int, width, y vg.Length) {
	cols := s.c.Columns
	first, end := row*cols, min((row+1)*cols, len(plots))
	var most pads
	for _, p := range pad[first:end] {
		most.bottom, most.top = max(most.bottom, p.bottom), max(most.top, p.top)
	}
	x := c.Min.X
	for i := first; i < end; i++ {
		k := column[i%cols]
		own := pad[i]
		label := s.yLabel(i)
		area := draw.Canvas{Canvas: c, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x + k.left - own.left + labelRoom(label), Y: y - s.rows[row] + most.bottom - own.bottom},
			Max: vg.Point{X: x + k.left + width + own.right - s.valueWidth(s.c.Panels[i]), Y: y - most.top + own.top},
		}}
		plots[i].Draw(area)
		sty := aligned(style(labelSize, s.ink.text), text.XCenter, text.YBottom)
		sty.Rotation = math.Pi / 2
		data := plots[i].DataCanvas(area)
		c.FillText(sty, vg.Point{X: area.Min.X - 3, Y: data.Center().Y}, label)
		x += k.left + width + k.right + gap
	}
}

// yLabel of a panel by its number, broken where it is longer than the panel is high. It is drawn here, since plot would shrink a
// panel to the height that it believes a long label takes.
func (s *sheet) yLabel(panel int) string {
	height := s.rows[panel/s.c.Columns] - 46
	return strings.Join(wrap(axisLabel(s.c.Panels[panel].Y), style(labelSize, s.ink.text), height), "\n")
}

func labelRoom(label string) vg.Length {
	if label == "" {
		return 0
	}
	return 4 + style(labelSize, color.Black).Height(label)
}

func axisLabel(a Axis) string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

func measure(p *plot.Plot, c draw.Canvas) pads {
	d := p.DataCanvas(c)
	return pads{left: d.Min.X - c.Min.X, right: c.Max.X - d.Max.X, bottom: d.Min.Y - c.Min.Y, top: c.Max.Y - d.Max.Y}
}

// plot makes axes, ticks and title of a panel about w wide and h high.
func (s *sheet) plot(p Panel, w, h vg.Length) *plot.Plot {
	pl := plot.New()
	pl.BackgroundColor = nil
	pl.Title.Text = p.Title
	pl.Title.Padding = 5
	pl.Title.TextStyle = aligned(style(panelSize, s.ink.text), text.XCenter, text.YTop)
	s.axis(&pl.X, p.X, aligned(style(tickSize, s.ink.muted), text.XCenter, text.YTop), ticks(p.X, float64(w)/62))
	s.axis(&pl.Y, p.Y, aligned(style(tickSize, s.ink.muted), text.XRight, text.YCenter), ticks(p.Y, float64(h)/36))
	pl.Y.Label.Text = "" // yLabel
	pl.X.Tick.Label = crowded(pl.X.Tick.Label, p.X, w)
	if p.Y.Scale == Category {
		pl.Y.Tick.Marker = brokenLabels(p.Y, pl.Y.Tick.Label, w*0.45)
	}
	pl.Add(&inside{s: s, p: p})
	return pl
}

func (s *sheet) axis(a *plot.Axis, from Axis, labels text.Style, marks []plot.Tick) {
	a.Min, a.Max = from.Min, from.Max
	a.Padding = 0
	a.LineStyle = draw.LineStyle{Color: s.ink.muted, Width: 0.8}
	a.Label.Text = axisLabel(from)
	a.Label.Padding = 3
	a.Label.TextStyle = aligned(style(labelSize, s.ink.text), text.XCenter, text.YBottom)
	a.Tick.Label = labels
	a.Tick.Length = 4
	a.Tick.LineStyle = a.LineStyle
	if from.Scale == Log || from.Scale == Percentile {
		a.Scale = plot.LogScale{}
	}
	a.Tick.Marker = plot.ConstantTicks(marks)
}

// crowded turns the labels of categories that would touch each other.
func crowded(sty text.Style, a Axis, w vg.Length) text.Style {
	if a.Scale != Category {
		return sty
	}
	widest := vg.Length(0)
	for _, n := range a.Categories {
		widest = max(widest, sty.Width(n))
	}
	if widest+4 > (w-60)/vg.Length(len(a.Categories)) {
		sty.Rotation, sty.XAlign, sty.YAlign = math.Pi/4, text.XRight, text.YTop
	}
	return sty
}

// brokenLabels are categories of the Y axis with long names on several lines.
func brokenLabels(a Axis, sty text.Style, w vg.Length) plot.ConstantTicks {
	var out plot.ConstantTicks
	for i, n := range a.Categories {
		if a.Bare {
			n = ""
		}
		out = append(out, plot.Tick{Value: float64(i), Label: strings.Join(wrap(n, sty, w), "\n")})
	}
	return out
}

// ticks of an axis, about n of them.
func ticks(a Axis, n float64) []plot.Tick {
	var out []plot.Tick
	switch a.Scale {
	case Linear:
		step := niceStep(a.Max-a.Min, max(2, min(8, int(n))))
		for k := math.Ceil(a.Min/step - 1e-9); k*step <= a.Max+step*1e-9; k++ {
			out = append(out, plot.Tick{Value: k * step, Label: number(k * step)})
		}
	case Log:
		out = logTicks(a)
	case Percentile:
		for x := 1.0; x <= a.Max*1.0001; x *= 10 {
			out = append(out, plot.Tick{Value: x, Label: number(100*(1-1/x)) + " %"})
			if x == 1 && a.Max > 2 {
				out = append(out, plot.Tick{Value: 2, Label: "50 %"})
			}
		}
	case Category:
		for i, c := range a.Categories {
			out = append(out, plot.Tick{Value: float64(i), Label: c})
		}
	}
	if a.Bare {
		for i := range out {
			out[i].Label = ""
		}
	}
	return out
}

// logTicks label the decades, and 2 and 5 where there are few decades.
func logTicks(a Axis) []plot.Tick {
	var out []plot.Tick
	few := a.Max/a.Min < 150
	for e := math.Floor(math.Log10(a.Min)); e <= math.Log10(a.Max)+1e-9; e++ {
		for m := 1.0; m < 10; m++ {
			t := plot.Tick{Value: m * math.Pow10(int(e))}
			if m == 1 || few && (m == 2 || m == 5) {
				t.Label = number(t.Value)
			}
			if t.Value >= a.Min*(1-1e-9) && t.Value <= a.Max*(1+1e-9) {
				out = append(out, t)
			}
		}
	}
	return out
}

// number without exponent or binary dust.
func number(v float64) string {
	return strconv.FormatFloat(round(v)+0, 'f', -1, 64) // + 0: a negative zero reads 0
}

// figure is a value with three significant digits, as it stands beside a bar.
func figure(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	g, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		g = v
	}
	return strconv.FormatFloat(g, 'f', -1, 64)
}

// lying tells a panel of horizontal bars.
func lying(p Panel) bool { return p.Y.Scale == Category }

// beside is what stands to the right of a lying bar.
func beside(pt Point) string { return strings.TrimSpace(figure(pt.X) + "  " + pt.Stamp) }

const besideGap = 11 // past a dot at the end of the axis

// valueWidth is the room for the figures beside lying bars.
func (s *sheet) valueWidth(p Panel) vg.Length {
	w := vg.Length(0)
	if !lying(p) {
		return 0
	}
	sty := style(stampSize, s.ink.text)
	for _, se := range p.Series {
		for _, pt := range se.Points {
			w = max(w, sty.Width(beside(pt)))
		}
	}
	return w + besideGap + 2
}

// inside draws the data of a panel.
type inside struct {
	s *sheet
	p Panel
	c draw.Canvas
	x func(float64) vg.Length
	y func(float64) vg.Length
}

// Plot implements plot.Plotter.
func (in *inside) Plot(c draw.Canvas, p *plot.Plot) {
	in.c = c
	in.x = func(v float64) vg.Length { return c.X(p.X.Norm(max(v, in.p.X.Min))) }
	in.y = func(v float64) vg.Length { return c.Y(p.Y.Norm(max(v, in.p.Y.Min))) }
	in.s.occupied = nil
	in.shades()
	in.grid(p)
	in.bands()
	in.rules()
	in.bars()
	in.lines()
	in.marks()
	in.stamps()
}

func (in *inside) shades() {
	for _, sh := range in.p.Shades {
		r := vg.Rectangle{Min: vg.Point{X: in.x(sh.From), Y: in.c.Min.Y}, Max: vg.Point{X: in.x(sh.To), Y: in.c.Max.Y}}
		in.c.SetColor(mix(in.s.ink.muted, in.s.ink.paper, 0.13))
		in.c.Fill(r.Path())
		sty := aligned(style(stampSize, in.s.ink.muted), text.XCenter, text.YTop)
		if sty.Width(sh.Label) < r.Max.X-r.Min.X {
			in.c.FillText(sty, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: r.Max.Y - 1}, sh.Label)
		}
	}
}

func (in *inside) grid(p *plot.Plot) {
	sty := draw.LineStyle{Color: in.s.ink.grid, Width: 0.7}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if in.p.X.Scale != Category && (t.Label != "" || in.p.X.Bare) {
			in.c.StrokeLine2(sty, in.x(t.Value), in.c.Min.Y, in.x(t.Value), in.c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if in.p.Y.Scale != Category && (t.Label != "" || in.p.Y.Bare) {
			in.c.StrokeLine2(sty, in.c.Min.X, in.y(t.Value), in.c.Max.X, in.y(t.Value))
		}
	}
}

func (in *inside) bands() {
	for _, b := range in.p.Bands {
		var path []vg.Point
		for i, x := range b.X {
			path = append(path, vg.Point{X: in.x(x), Y: in.y(b.Hi[i])})
		}
		for i := range slices.Backward(b.X) {
			path = append(path, vg.Point{X: in.x(b.X[i]), Y: in.y(b.Lo[i])})
		}
		col := in.s.ink.colour(b.Style)
		in.c.FillPolygon(color.NRGBA{R: col.R, G: col.G, B: col.B, A: 38}, in.c.ClipPolygonXY(path))
	}
}

// rules cross the panel; a rule outside the axis has nothing to show here.
func (in *inside) rules() {
	sty := draw.LineStyle{Color: in.s.ink.alarm, Width: 1.1, Dashes: []vg.Length{7, 3}}
	for _, r := range in.p.HLines {
		y := in.y(r.At)
		if r.At < in.p.Y.Min || y > in.c.Max.Y {
			continue
		}
		in.c.StrokeLine2(sty, in.c.Min.X, y, in.c.Max.X, y)
		in.ruleLabel(r.Label, vg.Point{X: in.c.Min.X + 4, Y: y + 1})
	}
	for _, r := range in.p.VLines {
		x := in.x(r.At)
		if r.At < in.p.X.Min || x > in.c.Max.X {
			continue
		}
		in.c.StrokeLine2(sty, x, in.c.Min.Y, x, in.c.Max.Y)
		in.ruleLabel(r.Label, vg.Point{X: x + 3, Y: in.c.Max.Y - 12})
	}
}

func (in *inside) ruleLabel(label string, at vg.Point) {
	sty := aligned(style(stampSize, in.s.ink.alarm), text.XLeft, text.YBottom)
	w, h := sty.Width(label), vg.Length(stampSize)
	if at.Y+h > in.c.Max.Y {
		at.Y -= h + 4
	}
	at.X = min(at.X, in.c.Max.X-w)
	in.take(vg.Rectangle{Min: at, Max: vg.Point{X: at.X + w, Y: at.Y + h}})
	in.c.FillText(sty, at, label)
}

func (in *inside) take(r vg.Rectangle) { in.s.occupied = append(in.s.occupied, r) }

func (in *inside) bars() {
	n := 0
	for _, se := range in.p.Series {
		if se.Kind == Bars {
			n++
		}
	}
	i := 0
	for _, se := range in.p.Series {
		switch {
		case se.Kind != Bars:
		case lying(in.p):
			in.lyingBars(se)
		default:
			in.standingBars(se, i, n)
			i++
		}
	}
}

// standingBars are the i-th of n side by side in each category.
func (in *inside) standingBars(se Series, i, n int) {
	slot := 0.84 / float64(n)
	for _, pt := range se.Points {
		left := pt.X - 0.42 + slot*float64(i)
		r := vg.Rectangle{Min: vg.Point{X: in.x(left) + 0.5, Y: in.c.Min.Y}, Max: vg.Point{X: in.x(left+slot) - 0.5, Y: in.y(pt.Y)}}
		in.s.box(in.c, r, se.Style, pt.Hollow)
		in.take(r)
	}
}

func (in *inside) lyingBars(se Series) {
	fg := in.s.ink.text
	for _, pt := range se.Points {
		y := in.y(pt.Y)
		half := min(8, (in.y(1)-in.y(0))*0.36)
		in.s.box(in.c, vg.Rectangle{Min: vg.Point{X: in.c.Min.X, Y: y - half}, Max: vg.Point{X: in.x(pt.X), Y: y + half}}, se.Style, pt.Hollow)
		if sp := pt.Spread; sp != nil {
			in.whisker(*sp, y, half*0.6)
		}
		for _, t := range pt.Trials {
			in.dot(vg.Point{X: in.x(t.Value), Y: y}, t.Valid)
		}
		in.c.FillText(aligned(style(stampSize, fg), text.XLeft, text.YCenter), vg.Point{X: in.c.Max.X + besideGap, Y: y}, beside(pt))
	}
}

func (in *inside) whisker(sp Spread, y, half vg.Length) {
	sty := draw.LineStyle{Color: in.s.ink.text, Width: 1.1}
	lo, hi := in.x(sp.Lo), in.x(sp.Hi)
	in.c.StrokeLine2(sty, lo, y, hi, y)
	if sp.Interval {
		in.c.StrokeLine2(sty, lo, y-half, lo, y+half)
		in.c.StrokeLine2(sty, hi, y-half, hi, y+half)
	}
}

func (in *inside) dot(pt vg.Point, solid bool) {
	path := outline("circle", pt, 2.4)
	in.c.SetColor(in.s.ink.paper)
	if solid {
		in.c.SetColor(in.s.ink.text)
	}
	in.c.Fill(path)
	edge := in.s.ink.paper
	if !solid {
		edge = in.s.ink.text
	}
	in.c.SetLineStyle(draw.LineStyle{Color: edge, Width: 0.8})
	in.c.Stroke(path)
}

func (in *inside) lines() {
	for _, se := range in.p.Series {
		if se.Kind != Line {
			continue
		}
		var path []vg.Point
		for _, pt := range se.Points {
			if !pt.Beyond {
				path = append(path, vg.Point{X: in.x(pt.X), Y: in.y(pt.Y)})
			}
		}
		in.c.StrokeLines(lineStyle(in.s.ink.colour(se.Style), se.Style.Dash), in.c.ClipLinesXY(path)...)
		in.takeLine(path)
	}
}

// takeLine keeps stamps off a line.
func (in *inside) takeLine(path []vg.Point) {
	const every = 8
	for i := 1; i < len(path); i++ {
		a, b := path[i-1], path[i]
		n := math.Ceil(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)) / every)
		for k := range int(n) {
			p := a.Add(b.Sub(a).Scale(vg.Length(float64(k) / n)))
			in.take(vg.Rectangle{Min: p, Max: p})
		}
	}
}

// marks come after all lines, the hollow ones last, since they are few and matter. Points beyond the axis that share
// an X stand below each other, so that none is hidden.
func (in *inside) marks() {
	in.marksThat(func(p Point) bool { return p.Mark && !p.Hollow })
	in.marksThat(func(p Point) bool { return p.Mark && p.Hollow })
}

func (in *inside) marksThat(want func(Point) bool) {
	beyond := map[float64]int{}
	for _, se := range in.p.Series {
		for _, pt := range se.Points {
			if se.Kind == Bars || !want(pt) {
				continue
			}
			at := vg.Point{X: in.x(pt.X), Y: in.y(pt.Y)}
			if pt.Beyond {
				at.Y = in.c.Max.Y - 6 - 10*vg.Length(beyond[pt.X])
				beyond[pt.X]++
			}
			if pt.Knee {
				in.c.SetLineStyle(draw.LineStyle{Color: in.s.ink.colour(se.Style), Width: 1.2})
				in.c.Stroke(outline("circle", at, 8))
			}
			in.s.marker(in.c, se.Style, at, 3.6, pt.Hollow)
			in.take(vg.Rectangle{Min: at.Sub(vg.Point{X: 4, Y: 4}), Max: at.Add(vg.Point{X: 4, Y: 4})})
		}
	}
}

// stamps stand beside their points where there is room; what does not fit is still hollow and in the notes.
func (in *inside) stamps() {
	for _, se := range in.p.Series {
		if lying(in.p) {
			return
		}
		for _, pt := range se.Points {
			if pt.Stamp == "" {
				continue
			}
			at := vg.Point{X: in.x(pt.X), Y: in.y(pt.Y)}
			if pt.Beyond {
				at.Y = in.c.Max.Y - 6
			}
			in.stamp(pt.Stamp, at)
		}
	}
}

func (in *inside) stamp(label string, at vg.Point) {
	sty := aligned(style(stampSize, in.s.ink.alarm), text.XLeft, text.YBottom)
	w, h := sty.Width(label), vg.Length(stampSize+1)
	for _, from := range []vg.Point{{X: -w - 7, Y: -h / 2}, {X: 7, Y: -h / 2}, {X: -w / 2, Y: 6}, {X: -w / 2, Y: -h - 6},
		{X: -w - 5, Y: 5}, {X: -w - 5, Y: -h - 5}, {X: 5, Y: 5}, {X: 5, Y: -h - 5}, {X: -w, Y: -h - 14}, {X: -w, Y: 14}} {
		low := at.Add(from)
		r := vg.Rectangle{Min: low, Max: vg.Point{X: low.X + w, Y: low.Y + h}}
		if r.Min.X < in.c.Min.X || r.Max.X > in.c.Max.X+8 || r.Min.Y < in.c.Min.Y || r.Max.Y > in.c.Max.Y+2 || in.taken(r) {
			continue
		}
		in.take(r)
		in.c.FillText(sty, low, label)
		return
	}
}

func (in *inside) taken(r vg.Rectangle) bool {
	return slices.ContainsFunc(in.s.occupied, func(o vg.Rectangle) bool {
		return r.Min.X < o.Max.X && o.Min.X < r.Max.X && r.Min.Y < o.Max.Y && o.Min.Y < r.Max.Y
	})
}
