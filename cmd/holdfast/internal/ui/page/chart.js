// A small chart of a history. It breaks where nobody asked the nodes, and where nothing was known.
import { html, Component } from './html.js';
import { number, span as words } from './format.js';

const WIDTH = 300;
const HEIGHT = 56;

// pieces returns the points of each unbroken line.
function pieces(points, known, pick, gap, x, y) {
  const all = [];
  let last = 0;
  for (const p of points) {
    if (!known(p)) {
      last = 0;
      continue;
    }
    if (!last || p.at - last > gap) all.push([]);
    last = p.at;
    all.at(-1).push([x(p.at), y(pick(p))]);
  }
  return all;
}

const path = (piece) => 'M' + (piece.length > 1 ? piece : [piece[0], [piece[0][0] + 1, piece[0][1]]]).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');

export class Chart extends Component {
  shouldComponentUpdate(next) {
    return next.points !== this.props.points || next.gap !== this.props.gap;
  }

  render({ title, points, pick, unit, always, gap }) {
    const known = (p) => always || p.known;
    const last = points.at(-1);
    const now = last && known(last) ? `${number(pick(last))}${unit}` : 'not known';
    const highest = points.filter(known).map(pick).reduce((a, b) => Math.max(a, b), 0);
    const top = Math.max(highest, 1);
    const end = last?.at ?? 0;
    const length = Math.max(60_000, end - (points[0]?.at ?? end));
    const lines = pieces(points, known, pick, gap, (at) => WIDTH * (1 - (end - at) / length), (v) => HEIGHT - 2 - ((HEIGHT - 6) * v) / top);
    return html`<figure class="chart">
      <figcaption><span>${title}</span> <strong class=${now === 'not known' ? 'unknown' : ''}>${now}</strong></figcaption>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}: ${now}, at most ${number(highest)}${unit} in ${words(length)}">
        <line class="grid" x1="0" x2=${WIDTH} y1=${HEIGHT - 2} y2=${HEIGHT - 2} />
        ${lines.map((piece) => html`<path class="area" d="${path(piece)}L${piece.at(-1)[0].toFixed(1)} ${HEIGHT - 2}L${piece[0][0].toFixed(1)} ${HEIGHT - 2}Z" />
          <path class="line" d=${path(piece)} />`)}
      </svg>
      <div class="scale"><span>${words(length)}</span><span>highest ${number(highest)}${unit}</span></div>
    </figure>`;
  }
}
