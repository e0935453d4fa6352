// What a person sees of a try.

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const line = (text = '') => console.log(text);

export function printAgents(scene, clis) {
  line('A first look at cmo. Nothing is spent: no login is read and no vendor is asked.');
  for (const [id, command] of Object.entries(clis)) {
    line(
      `  ${id.padEnd(7)} ${command ? `${command}, with a scratch home, talking to the simulator in test/vendor-sim` : 'the stand-in in test/fixtures/bin (the real CLI is not on PATH)'}`,
    );
  }
  line(`  state   ${scene.folder}, removed at the end`);
  line();
}

export function printEnd(what, envelope) {
  line(`${envelope.ok ? 'ok    ' : 'FAILED'} ${what}`);
  line(
    `       ${envelope.dispatchId}  ${envelope.lane ?? '-'} ${envelope.model ?? '-'}  ${seconds(envelope.durationMs)}  ${words(envelope)}`,
  );
}

function words({ ok, result, error, state }) {
  const text = ok ? JSON.stringify(result) : (error?.message ?? state);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

export function printCensus(rows) {
  const counts = new Map();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  line();
  line(`census: ${rows.length} dispatches = ${[...counts].map(([state, count]) => `${count} ${state}`).join(' + ')}`);
}

export function printReceipts(ids, receipts) {
  line('receipts: one line per started attempt, one per dispatch');
  for (const id of ids) {
    for (const receipt of receipts.filter((one) => (one.kind === 'attempt' ? one.dispatch : one.id) === id))
      line(`  ${receiptText(receipt)}`);
  }
}

function receiptText(receipt) {
  if (receipt.kind === 'dispatch')
    return `dispatch ${receipt.id.padEnd(30)} ${receipt.state}, answered by ${receipt.answeredBy ?? 'nobody'}`;
  const why = receipt.class
    ? `${receipt.class}${receipt.resetsAt ? `, resets ${receipt.resetsAt}` : ''}`
    : receipt.outcome;
  return `attempt  ${receipt.id.padEnd(30)} ${receipt.lane}: ${why}${receipt.adopted ? ', adopted' : ''}`;
}

export function printNext() {
  line();
  line('Next, with your own logins:');
  line('  npm run try -- --live "why is the sky blue?"     one task on your own subscription, nothing kept');
  line('  npm link                                         puts `cmo` on your PATH; then:');
  line('  cmo doctor                                       what is missing on this box');
  line("  echo 'why is the build slow?' | cmo run --role research");
}

export function printWrong(wrong) {
  for (const words of wrong) line(`NOT AS IT SHOULD BE: ${words}`);
}
