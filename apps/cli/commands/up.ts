import { CmoError } from '#contract';
import { clearTakenDown } from '../client/taken-down.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { configOrRefusal } from '../request/config.js';

export const up = command({
  name: 'up',
  summary: 'start the daemon now (run and submit do it by themselves)',
  words: { shown: '', min: 0, max: 0 },
  flags: OUTPUT_FLAGS,
  output: 'human',
  schema: 'cmo.up/1',
  examples: ['cmo up'],
  notes: [
    'It stops by itself after 30 minutes with nothing waiting or running; one that a service runs (`cmo service`) stays.',
  ],
  async run(_input, context) {
    const config = configOrRefusal(context);
    clearTakenDown(context.paths);
    const { ensureDaemon } = await import('#daemon/client');
    const ensured = await ensureDaemon(context.paths, config);
    if (!ensured.ok) throw new CmoError(ensured.error);
    const { pid, socket, started } = ensured;
    if (context.json) printData(context, 'cmo.up/1', { pid, socket, started });
    else
      context.output.line(
        `the daemon ${started ? 'is up' : 'was up already'}: pid ${pid}; \`cmo status\` shows what it does`,
      );
    return 0;
  },
});
