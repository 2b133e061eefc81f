// The page of a job.
import { html } from './html.js';
import { ago, moment, near, number, span, whole } from './format.js';
import { Detailed } from './details.js';
import { Events } from './events.js';
import { Facts, Heading } from './facts.js';
import { JobActions } from './jobactions.js';
import { nextTick, standing } from './jobs.js';
import { Runs } from './runs.js';
import { Table } from './table.js';

const AUDIT = [
  { title: 'When', class: 'when', cell: (a) => moment(a.at) },
  { title: 'Action', class: 'what', cell: (a) => a.what },
  { title: 'By', class: 'holder', cell: (a) => a.by },
  { title: 'Note', class: 'note', cell: (a) => a.note || '–' },
];

// long says that a run goes on past its next tick, or hangs, and how to end it.
function Long({ j, now }) {
  const late = j.next && j.next < now;
  if (j.state !== 'running' || !(late || j.hangs)) return null;
  const name = shell(j.name);
  return html`<p class="notice ${j.hangs ? 'bad' : 'warn'}" role="status">It has run for ${whole(now - j.started)} on ${j.host}${late && `; its next tick was due at ${near(j.next, now)}`}.
    To end it, end its command on that machine${name && html`, or take its lock away: <code>holdfast unlock ${name} --force</code>`}.</p>`;
}

// shell returns a name as a word of a shell, or '' for a name that the page cannot show as it is.
const shell = (name) => (name.startsWith('"') ? '' : /^[\w.,:/@%+=][\w.,:/@%+=-]*$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);

// lastRun returns the last run in words. Without one, the last tick is that of an action of an operator.
function lastRun(j, value) {
  const note = (r) => `on ${r.host}${r.manual ? ', asked for by an operator' : ''}`;
  if (j.state !== 'removed' && j.state !== 'reset') return { text: j.tick ? moment(j.tick) : '–', note: note(j) };
  const r = value?.history[0];
  return r ? { text: moment(r.tick), note: note(r) } : '–';
}

// next returns the next tick in words.
function next(j, now) {
  if (j.paused || j.retired || !j.next) return '–';
  const tick = nextTick(j, now);
  return { text: j.state === 'running' && j.next < now ? `was due ${ago(j.next, now)}` : tick.text ?? tick, note: moment(j.next) };
}

const when = (at, now) => (at ? { text: ago(at, now), note: moment(at) } : '–');

export class JobPage extends Detailed {
  url({ name }) {
    return `/job?name=${encodeURIComponent(name)}`;
  }

  render({ r, now, name, tab, events, since, csrf }, { value, error }) {
    const listed = r.jobs.find((j) => j.name === name);
    const j = value?.name === name ? { ...listed, ...value } : listed;
    const happened = html`<${Events} events=${events.filter((e) => e.kind === 'job' && e.name === name)} now=${now} since=${since} links=${false} />`;
    if (!j) return html`<${Heading} tab=${tab} kind="job" name=${name} /><p class="notice">${error || (r.jobs_error ? `Not known: ${r.jobs_error}` : 'Waiting for the nodes…')}</p>${happened}`;
    const old = error || r.jobs_error;
    const counts = value && ['done', 'failed', 'crashed', 'interrupted'].map((s) => value.runs[s] && `${number(value.runs[s])} ${s}`).filter(Boolean).join(', ');
    return html`<${Heading} tab=${tab} kind="job" name=${name} />
      ${old && html`<p class="notice bad" role="alert">Not known now: ${old}. This is as of ${ago(j.read || now, now)}.</p>`}
      <${Facts} facts=${[
        ['State', standing(j, now)],
        ['Last success', when(j.done, now)],
        ['Last failure', when(j.failed, now)],
        ['Next', next(j, now)],
        ['Schedule', j.schedule || '–'],
        ['Last run', lastRun(j, value)],
        j.state === 'removed' && j.tick > 0 && ['Removed', { text: moment(j.tick), note: `by ${j.host}` }],
        j.state === 'reset' && ['Tick set', { text: moment(j.started), note: `by ${j.host}` }],
        value && ['Duration', j.state === 'running' ? { text: whole(now - j.started), note: 'so far' } : j.took < 0 ? '–' : span(j.took)],
        value && ['Runs', counts || '0'],
        value && ['Retried', number(value.retried)],
        ['Missed ticks', number(j.missed)],
        j.asked > 0 && ['Asked', { text: `${ago(j.asked, now)}; no machine has begun it yet`, note: now - j.asked > 30_000 ? 'does a machine have this job, and can it run it?' : '', class: 'warn' }],
      ]} />
      <${Long} j=${j} now=${now} />
      ${csrf && html`<${JobActions} name=${name} paused=${!!j.paused} asked=${j.asked > 0} csrf=${csrf} then=${() => this.ask(true)} />`}
      ${value && html`<${Runs} runs=${value.history} />
        <${Table} id="audit" title="Audit" columns=${AUDIT} rows=${value.audit.map((a, i) => ({ ...a, key: `${a.at} ${i}` }))} now=${now} empty="No operator has done anything to it." />`}
      ${happened}`;
  }
}
