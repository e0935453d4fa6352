import { CmoError, type ShowData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { idsOf } from '../client/on-record.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { wrapped } from '../output/table.js';
import { FIELD_INDENT, timeline } from '../output/timeline.js';

export const show = command({
  name: 'show',
  summary: 'one dispatch: its decision, attempts and reasons',
  words: { shown: 'ID', min: 1, max: 1 },
  flags: OUTPUT_FLAGS,
  output: 'human',
  schema: 'cmo.show/1',
  examples: ['cmo show d-01JE0000000000000000000000'],
  notes: ['Of the agent’s environment only the names are kept on the record, never the values.'],
  async run({ words }, context) {
    const [id = ''] = await idsOf(words, context);
    const outcome = await new DaemonClient(context.paths).call<ShowData>({
      method: 'GET',
      path: `/v1/dispatches/${id}/show`,
      daemon: 'start',
    });
    if (!outcome.ok) throw new CmoError(outcome.error);
    if (context.json) printData(context, 'cmo.show/1', outcome.data);
    else
      for (const text of timeline(outcome.data, context.paint, context.now()))
        for (const line of wrapped(text, context.output.columns, text.startsWith('  ') ? FIELD_INDENT : 2))
          context.output.line(line);
    return 0;
  },
});
