import type { ServiceBox } from './box.js';

/** The person's table, each byte a letter, so that it goes back as it came. */
export type Table = { ok: true; text: string } | { ok: false; why: string };

export function readTable(box: ServiceBox): Table {
  const { found, exit, out, why } = box.run(['crontab', '-l']);
  if (!found) return { ok: false, why: 'crontab is not on PATH' };
  if (exit === 0) return { ok: true, text: out };
  // Every other failure may hide a table that is there, and writing ours would replace it.
  return /no crontab for|can't open .*no such file/i.test(why)
    ? { ok: true, text: '' }
    : { ok: false, why: `crontab -l: ${why}` };
}
