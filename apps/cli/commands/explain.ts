import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CmoError, errorBody } from '#contract';
import { command, type Context } from '../command.js';
import { explainers, KINDS } from '../explain/kinds.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { oneOf } from '../flags/one-of.js';
import { printJson } from '../output/json.js';

export const explain = command({
  name: 'explain',
  summary: 'what cmo makes of an input, offline',
  words: { shown: `${KINDS.join(' | ')} [FILE|-]`, min: 1, max: 2 },
  flags: { json: OUTPUT_FLAGS.json },
  output: 'human',
  schema: 'cmo.explain/1',
  examples: ['cmo explain decision inputs.json', 'cmo explain failure < input.json'],
  notes: [
    'Reads one input or an array of inputs, and always prints an array: what cmo makes of each, as JSON.',
    'It uses the defaults and the input only, never your configuration, clock, time zone, logins or Redis. For an input that cannot be understood it prints {"error"} in its place, and exits 1.',
  ],
  async run({ words }, context) {
    const [typed = '', file = '-'] = words;
    const kind = oneOf(KINDS, typed, { command: 'explain' });
    const inputs = await readInputs(file, context);
    const answers: object[] = [];
    for (const input of inputs) answers.push(await explainers[kind](input));
    printJson(context, answers);
    return answers.some((answer) => 'error' in answer) ? 1 : 0;
  },
});

async function readInputs(file: string, context: Context): Promise<unknown[]> {
  let value: unknown;
  try {
    const text = file === '-' ? await readAll() : readFileSync(resolve(context.cwd, file), 'utf8');
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new CmoError(
      errorBody('CMO_E_USAGE', `cannot read the inputs: ${file === '-' ? 'stdin' : file}`, {
        details: [(error as Error).message],
        fix: 'give it one JSON object, or an array of them',
      }),
    );
  }
  return Array.isArray(value) ? (value as unknown[]) : [value];
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
