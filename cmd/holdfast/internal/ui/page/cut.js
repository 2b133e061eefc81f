// Words about a list that does not have all rows.
import { html } from './html.js';
import { number } from './format.js';

// counts returns how many rows fit a filter: "12 of 9,000". url is the search for them, and found its answer, or null.
export function counts({ filtered, url, found, rows, all }) {
  if (url && !found) return `searching ${number(all)}…`;
  const fits = found ? found.fits : rows;
  return filtered ? `${number(fits)} of ${number(all)}` : number(all);
}

// Cut says which rows a list has, if it does not have all that fit.
export function Cut({ what, shown, fits, all, filtered }) {
  if (shown >= (filtered ? fits : all)) return null;
  return html`<p class="dim">${filtered
    ? `The list has the first ${number(shown)} of ${number(fits)} ${what} that fit, those that need attention first.`
    : `The list has the first ${number(shown)} of ${number(all)} ${what}, those that need attention first. The filter finds all of them.`}</p>`;
}
