// The stream of readings. The browser connects again by itself, except after an answer that is an error.

// open calls back with each event of the stream and each change of the connection. It returns a function that closes the
// stream.
export function open({ hello, past, state, happened, connection }) {
  let source;
  let timer;
  const connect = () => {
    source = new EventSource('/events');
    source.addEventListener('open', () => connection('live'));
    for (const [name, take] of Object.entries({ hello, past, state, happened })) {
      source.addEventListener(name, (e) => take(JSON.parse(e.data)));
    }
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
