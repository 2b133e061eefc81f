package main

// curve returns a, b and c of a + b·x + c·x² through three points.
func curve(x, y [3]float64) (a, b, c float64) {
	first := (y[1] - y[0]) / (x[1] - x[0])
	second := (y[2] - y[1]) / (x[2] - x[1])
	c = (second - first) / (x[2] - x[0])
	b = first - c*(x[0]+x[1])
	return y[0] - b*x[0] - c*x[0]*x[0], b, c
}

// line returns a and b of a + b·x through two points.
func line(x, y [2]float64) (a, b float64) {
	b = (y[1] - y[0]) / (x[1] - x[0])
	return y[0] - b*x[0], b
}
