// The tab of the jobs. If the reading does not have all of them, a filter asks the server.
import { html } from './html.js';
import { counts, Cut } from './cut.js';
import { ago, number, span, whole } from './format.js';
import { noJobs, Old } from './known.js';
import { to } from './route.js';
import { query, Search } from './search.js';
import { none, Table } from './table.js';

const CLASSES = { done: 'good', failed: 'bad', crashed: 'bad', interrupted: 'warn', running: '', reset: 'dim' };

// standing returns the state of a job in words.
export function standing(j, now) {
  const exit = j.exit === null || j.exit === undefined || j.exit === 0 || /exit/.test(j.error) ? '' : `exit code ${j.exit}`;
  const again = j.retry > now ? `again in ${whole(j.retry - now)}` : '';
  const why = j.state === 'running' ? '' : [[exit, j.error].filter(Boolean).join(': '), again].filter(Boolean).join('; ');
  if (j.overdue) return { text: `overdue by ${whole(now - j.overdue)}`, note: why, class: 'bad' };
  if (j.paused) return { text: 'paused', note: `by ${j.paused}`, class: 'warn' };
  if (j.retired) return { text: 'retired', class: 'dim' };
  if (j.state === 'running' && j.failing) return { text: 'running', note: 'after a failure', class: 'warn' };
  return { text: j.state, note: why, class: CLASSES[j.state] ?? 'warn' };
}

export function nextTick(j, now) {
  if (j.paused || j.retired || !j.next) return none;
  if (j.overdue) return { text: 'late', class: 'bad' };
  if (j.next > now) return `in ${whole(j.next - now)}`;
  return j.state === 'running' ? { text: 'late', class: 'warn' } : 'now'; // the tick waits for the end of the run
}

const name = { title: 'Job', class: 'name', sort: (j) => j.name, cell: (j) => ({ text: j.name, href: to('job', j.name), note: j.schedule }) };
const plain = { ...name, cell: (j) => ({ text: j.name, href: to('job', j.name) }) };
const state = { title: 'State', class: 'said', sort: (j) => j.state, cell: standing };
const done = { title: 'Last success', class: 'num', down: true, sort: (j) => j.done, cell: (j, now) => (j.done ? ago(j.done, now) : none) };
const failed = { title: 'Last failure', class: 'num', down: true, sort: (j) => j.failed, cell: (j, now) => (j.failed ? { text: ago(j.failed, now), class: j.failing ? 'bad' : '' } : none) };
const next = { title: 'Next', class: 'num', sort: (j) => j.next || Infinity, cell: nextTick };
const took = { title: 'Took', class: 'num', down: true, sort: (j) => j.took, cell: (j) => (j.took < 0 ? none : span(j.took)) };
const host = { title: 'Host', class: 'holder', sort: (j) => j.host, cell: (j) => j.host };

const COLUMNS = [name, state, done, failed, took, next, host];
const NONE = 'No job has run yet.';

// at returns the time for which the list is true.
const at = (r, now) => (r.jobs_error && r.jobs_at ? r.jobs_at : now);

export function Jobs(props) {
  const { r, filter } = props;
  const url = filter && r.jobs_total > r.jobs.length ? query('/jobs', { part: filter }) : '';
  return html`<${Search} url=${url} show=${(found) => html`<${List} ...${props} url=${url} found=${found} />`} />`;
}

function List({ r, now, filter, filters, url, found }) {
  const part = filter.toLowerCase();
  const rows = found ? found.items : r.jobs.filter((j) => !part || j.name.toLowerCase().includes(part) || j.host.toLowerCase().includes(part));
  return html`<${Old} error=${r.jobs_error} at=${r.jobs_at} now=${now} what="jobs" />
    <${Table} id="jobs" title="Jobs" columns=${COLUMNS} rows=${rows} now=${at(r, now)} old=${r.jobs_error} note=${counts({ filtered: part, url, found, rows: rows.length, all: r.jobs_total })}
      empty=${r.jobs_total ? (url && !found ? 'Searching…' : 'No job fits the filter.') : noJobs(r, NONE)}>${filters}<//>
    ${(!url || found) && html`<${Cut} what="jobs" shown=${rows.length} fits=${found ? found.fits : rows.length} all=${r.jobs_total} filtered=${part} />`}`;
}

export function TopJobs({ r, now }) {
  return html`<${Table} id="jobs" title="Jobs" columns=${[plain, state, next]} rows=${r.jobs} now=${at(r, now)} old=${r.jobs_error} most=${5} note=${r.jobs_error && r.jobs_at && r.jobs.length ? 'not known now; the last known ones' : ''}
    empty=${noJobs(r, NONE)} all=${r.jobs_total > 5 && { href: '#/jobs', text: `All ${number(r.jobs_total)} jobs` }} />`;
}
