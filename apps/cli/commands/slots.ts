import type { SlotKind } from '#contract';
import { say } from '../client/control.js';
import { DaemonClient } from '../client/daemon.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS, repeated, valued } from '../flags/flag.js';
import { atOnce, namedAtOnce, type AtOnce } from '../flags/readers.js';
import { printData } from '../output/json.js';
import { configOrRefusal } from '../request/config.js';

export const slots = command({
  name: 'slots',
  summary: 'how many agents run at once, changed while they run',
  words: { shown: '', min: 0, max: 0 },
  flags: {
    account: repeated('--account', 'NAME=N', namedAtOnce, 'of this account, over all boxes'),
    lane: repeated('--lane', 'LANE=N', namedAtOnce, 'of this lane, over all boxes'),
    node: repeated('--node', 'NODE=N', namedAtOnce, 'on this box'),
    dark: valued('--dark', 'N', atOnce, 'of each account while its meter is dark'),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.control/1',
  examples: [
    'cmo slots',
    'cmo slots --account codex=4 --account claude=6',
    'cmo slots --node laptop=2',
    'cmo slots --account codex=default',
  ],
  notes: [
    'Without flags it shows the numbers in effect.',
    'A number stays until it is set to `default`, the configured value; 0 starts nothing. What runs goes on.',
  ],
  async run({ values }, context) {
    const named = (of: SlotKind, said: readonly AtOnce[] | undefined): object[] =>
      (said ?? []).map(({ name, n }) => ({ of, name, atOnce: n }));
    const set = [
      ...named('account', values.account),
      ...named('lane', values.lane),
      ...named('node', values.node),
      ...(values.dark === undefined ? [] : [{ of: 'dark', name: '', atOnce: values.dark }]),
    ];
    const client = new DaemonClient(context.paths);
    const data = set.length === 0 ? await say(client, 'control') : await say(client, 'slots', { set });
    if (context.json) printData(context, 'cmo.control/1', data);
    else {
      const { slotLines } = await import('../output/slots-text.js');
      for (const text of slotLines(data, configOrRefusal(context))) context.output.line(text);
    }
    return 0;
  },
});
