// Words for what is not known. An empty list is a fact only if the reading was complete.
import { html } from './html.js';
import { ago } from './format.js';

export const namesKnown = (r) => !r.error && r.names_at === r.at;
export const jobsKnown = (r) => !r.early && !r.jobs_error && r.jobs_at > 0;

// nothing returns the text for an empty list of names.
export const nothing = (r, text) => (namesKnown(r) ? text : r.error ? `Not known: ${r.error}.` : 'Not known yet.');

export const noJobs = (r, text) => (jobsKnown(r) ? text : r.jobs_error ? `Not known: ${r.jobs_error}.` : 'Not known yet.');

// Old says that a list is not that of now.
export function Old({ error, at, now, what }) {
  if (!error) return null;
  return html`<p class="notice bad" role="alert">The ${what} are not known now: ${error}. ${at ? `Below are the last known ones, as of ${ago(at, now)}.` : ''}</p>`;
}
