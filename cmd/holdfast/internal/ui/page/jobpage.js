// The page of a job.
import { html } from './html.js';
import { ago, moment, number, span } from './format.js';
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
        ['Next', j.paused || !j.next ? '–' : { text: nextTick(j, now).text ?? nextTick(j, now), note: moment(j.next) }],
        ['Schedule', j.schedule || '–'],
        ['Last run', { text: j.tick ? moment(j.tick) : '–', note: `on ${j.host}${j.manual ? ', asked for by an operator' : ''}` }],
        value && ['Duration', j.took < 0 ? '–' : span(j.took)],
        value && ['Runs', counts || '0'],
        value && ['Retried', number(value.retried)],
        ['Missed ticks', number(j.missed)],
        j.asked && ['Asked', { text: 'an operator wants a run now', class: 'warn' }],
      ]} />
      ${csrf && html`<${JobActions} name=${name} paused=${!!j.paused} csrf=${csrf} then=${() => this.ask(true)} />`}
      ${value && html`<${Runs} runs=${value.history} />
        <${Table} id="audit" title="Audit" columns=${AUDIT} rows=${value.audit.map((a, i) => ({ ...a, key: `${a.at} ${i}` }))} now=${now} empty="No operator has done anything to it." />`}
      ${happened}`;
  }
}
