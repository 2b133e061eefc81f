// The stream of readings. The browser connects again by itself, except after an answer that is an error.

// open calls back with each reading and each change of the connection. It returns a function that closes the stream.
export function open({ past, state, connection }) {
  let source;
  let timer;
  const connect = () => {
    source = new EventSource('/events');
    source.addEventListener('open', () => connection('live'));
    source.addEventListener('past', (e) => past(JSON.parse(e.data)));
    source.addEventListener('state', (e) => state(JSON.parse(e.data)));
    source.addEventListener('error', async () => {
      connection('lost');
      if (source.readyState !== EventSource.CLOSED) return;
      if (await refused()) location.assign('/login');
      else timer = setTimeout(connect, 3000);
    });
  };
  connect();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

// refused reports whether the session has ended.
async function refused() {
  try {
    const answer = await fetch('/', { redirect: 'manual', cache: 'no-store' });
    return answer.type === 'opaqueredirect';
  } catch {
    return false; // the server does not answer
  }
}
