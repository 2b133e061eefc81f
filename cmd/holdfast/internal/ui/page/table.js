// A table that sorts by its columns. On narrow screens each row is a card, so the roles are set here: a browser drops
// them when a table is not displayed as one.
import { html, Component } from './html.js';

// FIRST is the number of rows that are shown without a request. More rows cost time at each reading.
export const FIRST = 200;

export class Table extends Component {
  constructor() {
    super();
    this.state = { by: null, down: false, all: false };
  }

  sort(column) {
    this.setState((s) => (s.by === column ? { down: !s.down } : { by: column, down: !!column.down }));
  }

  render({ id, title, note, columns, rows, empty, now, wide, children }, { by, down, all }) {
    let list = rows;
    if (by) {
      const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      list = rows.map((row) => [by.sort(row, now), row]);
      list.sort(([a], [b]) => (down ? order(b, a) : order(a, b)));
      list = list.map(([, row]) => row);
    }
    const shown = all ? list : list.slice(0, FIRST);
    return html`<section id=${id} aria-labelledby="${id}-title" tabindex="-1">
      <div class="title"><h2 id="${id}-title">${title}</h2>${note && html`<span class="dim">${note}</span>`}${children}</div>
      ${rows.length === 0
        ? html`<p class="empty">${empty}</p>`
        : html`<table role="table" aria-labelledby="${id}-title" class="${id}${wide ? ' differing' : ''}">
            <thead role="rowgroup"><tr role="row">${columns.map((c) => html`<th role="columnheader" scope="col" class=${c.class}
                aria-sort=${c === by ? (down ? 'descending' : 'ascending') : 'none'}>
                <button type="button" onClick=${() => this.sort(c)}>${c.title}<span class="mark" aria-hidden="true">${c === by ? (down ? '▾' : '▴') : ''}</span></button></th>`)}</tr></thead>
            <tbody role="rowgroup">${shown.map((row) => html`<${Row} key=${row.key ?? row.name ?? row.addr} row=${row} columns=${columns} now=${now} />`)}</tbody>
          </table>`}
      ${list.length > shown.length && html`<p class="more"><button type="button" onClick=${() => this.setState({ all: true })}>
        Show all ${list.length.toLocaleString('en')}</button></p>`}
    </section>`;
  }
}

// Row renders again only if its text changes. A cell is a text, or { text, class, title, note }.
class Row extends Component {
  constructor(props) {
    super();
    this.cells = make(props);
  }

  shouldComponentUpdate(next) {
    const cells = make(next);
    const same = cells.length === this.cells.length && cells.every((c, i) => equal(c, this.cells[i]));
    this.cells = cells;
    return !same;
  }

  render({ columns }) {
    return html`<tr role="row">${this.cells.map((c, i) => html`<td role="cell" class=${[columns[i].class, c.class].filter(Boolean).join(' ')}
      data-label=${columns[i].title}>${c.text}${c.note && html` <small>${c.note}</small>`}</td>`)}</tr>`;
  }
}

function make({ row, columns, now }) {
  return columns.map((c) => {
    const cell = c.cell(row, now);
    return typeof cell === 'object' ? cell : { text: cell };
  });
}

const equal = (a, b) => a.text === b.text && a.class === b.class && a.note === b.note;
