// A table that sorts by its columns and shows a page of its rows. On narrow screens each row is a card, so the roles are
// set here: a browser drops them when a table is not displayed as one.
import { html, Component } from './html.js';
import { number } from './format.js';

// PAGE is the number of rows of a page. More rows cost time at each reading.
export const PAGE = 100;

export class Table extends Component {
  constructor() {
    super();
    this.state = { by: null, down: false, page: 0 };
  }

  sort(column) {
    this.setState((s) => (s.by === column ? { down: !s.down, page: 0 } : { by: column, down: !!column.down, page: 0 }));
  }

  render({ id, title, note, columns, rows, empty, now, wide, most, all, old, children }, { by, down, page }) {
    let list = rows;
    if (by) {
      const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      list = rows.map((row) => [by.sort(row, now), row]);
      list.sort(([a], [b]) => (down ? order(b, a) : order(a, b)));
      list = list.map(([, row]) => row);
    }
    const last = Math.max(0, Math.ceil(list.length / PAGE) - 1);
    const at = Math.min(page, last);
    const shown = most ? list.slice(0, most) : list.slice(at * PAGE, (at + 1) * PAGE);
    return html`<section id=${id} aria-labelledby="${id}-title" tabindex="-1">
      <div class="title"><h2 id="${id}-title">${title}</h2>${note && html`<span class="dim">${note}</span>`}${children}</div>
      ${rows.length === 0
        ? html`<p class="empty">${empty}</p>`
        : html`<table role="table" aria-labelledby="${id}-title" class="${id}${wide ? ' differing' : ''}${most ? ' brief' : ''}${old ? ' old' : ''}">
            <thead role="rowgroup"><tr role="row">${columns.map((c) => html`<th role="columnheader" scope="col" class=${c.class}
                aria-sort=${c === by ? (down ? 'descending' : 'ascending') : 'none'}>${most || !c.sort
                  ? html`<span class="head">${c.title}</span>`
                  : html`<button type="button" onClick=${() => this.sort(c)}>${c.title}<span class="mark" aria-hidden="true">${c === by ? (down ? '▾' : '▴') : ''}</span></button>`}</th>`)}</tr></thead>
            <tbody role="rowgroup">${shown.map((row) => html`<${Row} key=${row.key ?? row.name ?? row.addr} row=${row} columns=${columns} now=${now} />`)}</tbody>
          </table>`}
      ${most && all && html`<p class="more"><a href=${all.href}>${all.text}</a></p>`}
      ${!most && last > 0 && html`<nav class="pages" aria-label="Pages of ${title}">
        <button type="button" disabled=${at === 0} onClick=${() => this.setState({ page: at - 1 })}>Previous</button>
        <span>${number(at * PAGE + 1)}–${number(Math.min(list.length, (at + 1) * PAGE))} of ${number(list.length)}</span>
        <button type="button" disabled=${at === last} onClick=${() => this.setState({ page: at + 1 })}>Next</button></nav>`}
    </section>`;
  }
}

// Row renders again only if its text changes. A cell is a text, or { text, class, note, href }.
class Row extends Component {
  constructor(props) {
    super();
    this.cells = make(props);
  }

  shouldComponentUpdate(next) {
    const cells = make(next);
    const same = cells.length === this.cells.length && next.row.old === this.props.row.old && cells.every((c, i) => equal(c, this.cells[i]));
    this.cells = cells;
    return !same;
  }

  render({ columns, row }) {
    return html`<tr role="row" class=${row.old ? 'old' : ''}>${this.cells.map((c, i) => html`<td role="cell" class=${[columns[i].class, c.class].filter(Boolean).join(' ')}
      data-label=${columns[i].title}>${c.href ? html`<a href=${c.href}>${c.text}</a>` : c.text}${c.note && html` <small>${c.note}</small>`}</td>`)}</tr>`;
  }
}

function make({ row, columns, now }) {
  return columns.map((c) => {
    const cell = c.cell(row, now);
    return typeof cell === 'object' ? cell : { text: cell };
  });
}

const equal = (a, b) => a.text === b.text && a.class === b.class && a.note === b.note && a.href === b.href;

export const none = { text: '–', class: 'none' };
