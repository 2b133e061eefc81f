// The addresses inside the page: #/jobs is a tab, and #/job/NAME the page of one job.
export const TABS = ['overview', 'locks', 'jobs', 'elections', 'semaphores', 'nodes'];
const ITEMS = { lock: 'locks', shared: 'locks', job: 'jobs', election: 'elections', semaphore: 'semaphores', node: 'nodes' };

// parse returns the tab of a hash, and the kind and the name of its item if it has one.
export function parse(hash) {
  const [first = '', ...rest] = hash.replace(/^#\/?/, '').split('/');
  if (ITEMS[first] && rest.length) return { tab: ITEMS[first], kind: first, name: decode(rest.join('/')) };
  return { tab: TABS.includes(first) ? first : 'overview', kind: '', name: '' };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // somebody typed it
  }
}

// to returns the address of an item, or of the overview if there is no such kind of item.
export const to = (kind, name) => (ITEMS[kind] ? `#/${kind}/${encodeURIComponent(name)}` : '#/');
