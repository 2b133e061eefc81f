// A small chart of the last minutes. It breaks where nobody watched.
import { html, Component } from './html.js';
import { number } from './format.js';

const WIDTH = 300;
const HEIGHT = 56;

// minutes returns the span of the chart: as many whole minutes as there are points for, from 1 to 5.
const minutes = (points) => Math.min(5, Math.max(1, Math.ceil(((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)) / 60_000)));

// round returns the least of 1, 2 and 5 times a power of ten that is not below n.
function round(n) {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1)));
  return [1, 2, 5, 10].map((f) => f * power).find((v) => v >= n);
}

// pieces returns the points of each unbroken line.
function pieces(points, pick, x, y) {
  const all = [];
  let last = 0;
  for (const p of points) {
    if (p.at - last > 5000) all.push([]);
    last = p.at;
    all.at(-1).push([x(p.at), y(pick(p))]);
  }
  return all;
}

const path = (piece) => 'M' + piece.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');

export class Chart extends Component {
  shouldComponentUpdate(next) {
    return next.points !== this.props.points;
  }

  render({ title, points, pick, unit }) {
    const values = points.map(pick);
    const now = values.at(-1) ?? 0;
    const highest = values.reduce((a, b) => Math.max(a, b), 0);
    const top = round(highest);
    const span = minutes(points);
    const end = points.at(-1)?.at ?? 0;
    const lines = pieces(points, pick, (at) => WIDTH * (1 - (end - at) / (span * 60_000)), (v) => HEIGHT - 2 - ((HEIGHT - 6) * v) / top);
    return html`<figure class="chart">
      <figcaption><span>${title}</span> <strong>${number(now)}${unit}</strong></figcaption>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
        aria-label="${title}: ${number(now)}${unit} now, at most ${number(highest)}${unit} in the last ${span} min">
        <line class="grid" x1="0" x2=${WIDTH} y1="4" y2="4" /><line class="grid" x1="0" x2=${WIDTH} y1=${HEIGHT - 2} y2=${HEIGHT - 2} />
        ${lines.map((piece) => html`<path class="area" d="${path(piece)}L${piece.at(-1)[0].toFixed(1)} ${HEIGHT - 2}L${piece[0][0].toFixed(1)} ${HEIGHT - 2}Z" />
          <path class="line" d=${path(piece)} />`)}
      </svg>
      <div class="scale"><span>${span} min</span><span>highest ${number(highest)}${unit}</span></div>
    </figure>`;
  }
}
