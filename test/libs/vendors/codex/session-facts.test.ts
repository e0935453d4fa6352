import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sessionFacts } from '#vendors';
import { tempFolder } from '../../../support/temp.js';

const THREAD = '00000000-0000-4000-8000-000000000001';
const SAMPLE = new URL('../../../vendor-sim/samples/codex/usage-limit.rollout.jsonl', import.meta.url);
const BEFORE = Date.parse('2026-11-29T23:20:00Z');

async function lay(path: string, text: string): Promise<string> {
  const root = tempFolder();
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return root;
}

const line = (timestamp: string, info: unknown) =>
  `${JSON.stringify({ timestamp, type: 'event_msg', payload: { type: 'task_complete', error: info === null ? undefined : { message: 'm', codex_error_info: info } } })}\n`;

describe('the session file of a thread', () => {
  test('has the machine word of a failure and the version of the CLI', async () => {
    const root = await lay(`2026/11/29/rollout-2026-11-29T23-20-22-${THREAD}.jsonl`, await readFile(SAMPLE, 'utf8'));
    expect(await sessionFacts(root, THREAD, BEFORE)).toMatchObject({
      error: 'usage_limit_exceeded',
      cliVersion: '0.171.0',
    });
  });

  test('of a resumed thread lies in an older day, and only an error since the attempt began is its own', async () => {
    const text =
      line('2026-11-28T10:00:00Z', 'server_overloaded') +
      line('2026-11-29T23:30:00Z', { http_connection_failed: { http_status_code: 401 } });
    const root = await lay(`2026/11/02/rollout-2026-11-02T01-00-00-${THREAD}.jsonl`, text);
    await mkdir(join(root, '2026/11/29'), { recursive: true });
    expect((await sessionFacts(root, THREAD, BEFORE))?.error).toEqual({
      http_connection_failed: { http_status_code: 401 },
    });
    expect((await sessionFacts(root, THREAD, Date.parse('2026-11-30T00:00:00Z')))?.error).toBe(null);
  });

  test('is read from its end, and by the parsed type, not by words in tool output', async () => {
    const noise = `${JSON.stringify({ timestamp: '2026-11-29T23:40:00Z', type: 'response_item', payload: { type: 'function_call_output', output: '"task_complete" codex_error_info' } })}\n`;
    const root = await lay(
      `2026/11/29/rollout-x-${THREAD}.jsonl`,
      `${'x'.repeat(6_000_000)}\n${line('2026-11-29T23:30:00Z', 'server_overloaded')}${noise.repeat(100)}`,
    );
    expect((await sessionFacts(root, THREAD, BEFORE))?.error).toBe('server_overloaded');
  });

  test('that is not there, or whose name would leave the folder, is null', async () => {
    const root = tempFolder();
    expect(await sessionFacts(root, THREAD, BEFORE)).toBe(null);
    expect(await sessionFacts(join(root, 'nowhere'), THREAD, BEFORE)).toBe(null);
    expect(await sessionFacts(root, '../../etc/passwd', BEFORE)).toBe(null);
  });
});
