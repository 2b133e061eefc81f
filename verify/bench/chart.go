package main

import (
	"image/color"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart draws one panel per workload. A bar is the median rate, and its whiskers go from the lowest to the highest
// repetition.
func chart(file string, results []*result) error {
	if len(results) == 0 {
		return nil
	}
	const columns, width, height = 2, 14 * vg.Centimeter, 5.5 * vg.Centimeter
	rows := (len(results) + columns - 1) / columns
	canvas := vgsvg.New(columns*width, font.Length(rows)*height)
	tiles := draw.Tiles{Cols: columns, Rows: rows, PadX: vg.Centimeter / 2, PadY: vg.Centimeter / 2,
		PadTop: vg.Centimeter / 4, PadBottom: vg.Centimeter / 4, PadLeft: vg.Centimeter / 4, PadRight: vg.Centimeter / 2}
	panels := make([][]*plot.Plot, rows)
	for i := range panels {
		panels[i] = make([]*plot.Plot, columns)
	}
	for i, r := range results {
		p, err := panel(r)
		if err != nil {
			return err
		}
		panels[i/columns][i%columns] = p
	}
	for y, row := range plot.Align(panels, tiles, draw.New(canvas)) {
		for x, c := range row {
			if panels[y][x] != nil {
				panels[y][x].Draw(c)
			}
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = canvas.WriteTo(f)
	return err
}

var (
	ours   = color.RGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xff}
	theirs = color.RGBA{R: 0xa9, G: 0xa9, B: 0xa9, A: 0xff}
	bound  = color.RGBA{R: 0xe3, G: 0xc5, B: 0x78, A: 0xff}
)

func panel(r *result) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = r.workload.title
	p.Title.TextStyle.Font.Size = vg.Points(9)
	p.X.Label.Text = "cycles/s"
	p.X.Label.TextStyle.Font.Size = vg.Points(8)
	p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = vg.Points(7), vg.Points(7)
	p.X.Min = 0
	var names []string
	var shown []*system
	for i := len(systems) - 1; i >= 0; i-- { // the first system on top
		if s := systems[i]; len(r.samples[s.name]) > 0 {
			shown, names = append(shown, s), append(names, s.name)
		}
	}
	whiskers := &ranges{}
	for i, s := range shown {
		at := r.of(s.name, rate)
		bar, err := plotter.NewBarChart(plotter.Values{at.median}, vg.Points(9))
		if err != nil {
			return nil, err
		}
		bar.Horizontal, bar.XMin, bar.LineStyle.Width = true, float64(i), 0
		switch {
		case s.limit:
			bar.Color = bound
		case s.rival:
			bar.Color = theirs
		default:
			bar.Color = ours
		}
		p.Add(bar)
		whiskers.XYs = append(whiskers.XYs, plotter.XY{X: at.median, Y: float64(i)})
		whiskers.XErrors = append(whiskers.XErrors, struct{ Low, High float64 }{at.low - at.median, at.high - at.median})
	}
	lines, err := plotter.NewXErrorBars(whiskers)
	if err != nil {
		return nil, err
	}
	p.Add(lines)
	p.NominalY(names...)
	if strings.HasPrefix(r.workload.title, "One") {
		p.X.Label.Text = "hand-offs/s"
	}
	return p, nil
}

// ranges has points, each with a range of X values.
type ranges struct {
	plotter.XYs
	plotter.XErrors
}
