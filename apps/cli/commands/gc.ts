import { CmoError, type GcData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { hasRecords } from '../client/on-record.js';
import { command } from '../command.js';
import { on, OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';

export const gc = command({
  name: 'gc',
  summary: 'remove what is past its retention: records, receipts, run folders, texts',
  words: { shown: '', min: 0, max: 0 },
  flags: { dryRun: on('--dry-run', 'only say what would be removed'), ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.gc/1',
  examples: ['cmo gc --dry-run', 'cmo gc'],
  notes: [
    'The daemon does this every hour. `retention` in the config file says how long, and how many, are kept; nothing that still runs or waits is ever removed.',
  ],
  async run({ values }, context) {
    const dryRun = values.dryRun ?? false;
    const data = (await hasRecords(context)) ? await collected(dryRun, context) : null;
    if (context.json) printData(context, 'cmo.gc/1', data);
    else if (data === null) context.output.line('nothing is on record here');
    else for (const text of gcText(data)) context.output.line(text);
    return 0;
  },
});

async function collected(dryRun: boolean, { paths }: Parameters<typeof hasRecords>[0]): Promise<GcData> {
  const outcome = await new DaemonClient(paths).call<GcData>({
    method: 'POST',
    path: '/v1/gc',
    body: { dryRun },
    daemon: 'start',
    timeoutMs: 600_000,
  });
  if (!outcome.ok) throw new CmoError(outcome.error);
  return outcome.data;
}

function gcText({ dryRun, records, receipts, runs, blobs }: GcData): string[] {
  const verb = dryRun ? 'would be removed' : 'removed';
  return [
    `records   ${records.removed} ${verb}`,
    `receipts  ${receipts.files.length === 0 ? `none ${verb}` : `${receipts.files.join(', ')} ${verb}: ${receipts.lines} lines, ${sizeText(receipts.bytes)}`}`,
    `runs      ${runs.removed} folders ${verb}, ${sizeText(runs.bytes)}`,
    `texts     ${blobs.removed} files ${verb}, ${sizeText(blobs.bytes)}`,
  ];
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
