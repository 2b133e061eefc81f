// The overview: what is wrong, the history, and the top of each list.
import { html } from './html.js';
import { Charts } from './charts.js';
import { TopElections } from './elections.js';
import { Events } from './events.js';
import { TopJobs } from './jobs.js';
import { TopLocks } from './locks.js';
import { TopNodes } from './nodes.js';
import { Problems } from './problems.js';
import { TopSemaphores } from './semaphores.js';

export const Overview = ({ r, now, points, since, events }) => html`<${Problems} r=${r} />
  <${Charts} points=${points} since=${since} />
  <div class="tops">
    <${TopLocks} r=${r} now=${now} /><${TopJobs} r=${r} now=${now} />
    <${TopNodes} r=${r} now=${now} /><${TopElections} r=${r} now=${now} />
    <${TopSemaphores} r=${r} now=${now} /><${Events} events=${events} now=${now} since=${since} most=${10} />
  </div>`;
