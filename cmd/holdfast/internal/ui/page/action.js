// send sends an action of the reader. It returns "" or the reason why it failed.
export async function send(path, body, csrf) {
  try {
    const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json', 'Holdfast-CSRF': csrf }, body: JSON.stringify(body) });
    return answer.ok ? '' : (await answer.text()).trim() || `the server answered with ${answer.status}`;
  } catch {
    return 'the server does not answer';
  }
}
