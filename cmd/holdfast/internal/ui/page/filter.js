// The filter of a list.
import { html } from './html.js';

export const Filter = ({ filter, only, change, waiters }) => html`<div class="filter">
  <input id="filter" type="search" placeholder="Filter ( / )" aria-label="Filter by name or holder" value=${filter} onInput=${(e) => change({ filter: e.target.value })} />
  ${waiters && html`<label><input type="checkbox" checked=${only} onChange=${(e) => change({ only: e.target.checked })} /> with waiters</label>`}</div>`;
