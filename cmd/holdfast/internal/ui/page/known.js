// Words for what is not known. An empty list is a fact only if the reading was complete.
import { html } from './html.js';
import { ago, plural } from './format.js';

export const namesKnown = (r) => !r.error && r.names_at === r.at;
export const jobsKnown = (r) => !r.early && !r.jobs_error && r.jobs_at > 0;

// nothing returns the text for an empty list of names.
export const nothing = (r, text) => (namesKnown(r) ? text : r.error ? `Not known: ${r.error}.` : 'Not known yet.');

// noLocks returns the text for an empty list of locks. The locks of jobs and elections, and slots, are on other tabs.
export function noLocks(r) {
  const of = (kind) => r.names.filter((n) => n.kind === kind).length;
  const others = [[of('job'), 'job', 'jobs'], [of('election'), 'election', 'elections'], [r.semaphores, 'semaphore', 'semaphores']].filter(([n]) => n > 0);
  if (!others.length) return nothing(r, 'Nobody has a lock or waits for one.');
  if (r.total > r.names.length) return nothing(r, 'No locks besides those of jobs, elections and semaphores.');
  const links = others.map(([n, noun, tab], i) => html`${i ? (i === others.length - 1 ? ' and ' : ', ') : ''}<a href="#/${tab}">${plural(n, noun)}</a>`);
  return nothing(r, html`No locks besides those of ${links}.`);
}

export const noJobs = (r, text) => (jobsKnown(r) ? text : r.jobs_error ? `Not known: ${r.jobs_error}.` : 'Not known yet.');

// Old says that a list is not that of now.
export function Old({ error, at, now, what }) {
  if (!error) return null;
  return html`<p class="notice bad" role="alert">The ${what} are not known now: ${error}. ${at ? `Below are the last known ones, as of ${ago(at, now)}.` : ''}</p>`;
}
