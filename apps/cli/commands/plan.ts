import { command } from '../command.js';
import { pictureOf } from '../plan/picture.js';
import { planOne } from '../plan/plan-one.js';
import { outlineOf, schemaOf, type Door } from '../request/build.js';
import { configOrRefusal } from '../request/config.js';
import { BATCH_FLAGS } from '../request/task-flags.js';
import { taskFrom } from '../request/task-source.js';

const DOOR: Door = { command: 'plan', class: 'normal', maxWaitMs: null };

/** Decides, and starts nothing: no daemon, no Redis, no vendor is asked. */
export const plan = command({
  name: 'plan',
  summary: 'where a task would run, and why; starts nothing',
  words: { shown: 'flags only, as for run', min: 0, max: 0 },
  flags: BATCH_FLAGS,
  output: 'json-in-pipes',
  schema: 'cmo.envelope/1',
  examples: [
    'cmo plan --role judge --complexity 4 --length s --independent-of codex',
    'cmo plan --dispatch task.md',
    'cmo plan --batch tasks.jsonl',
  ],
  notes: [
    'With --refresh it starts the daemon, which asks the vendors first.',
    'Exit 3 when no lane is usable now; of a batch, when some of it would wait.',
    'It reads what the daemon last wrote of the meters, and says how old that is; older than an hour counts as unknown.',
  ],
  async run({ values }, context) {
    const config = configOrRefusal(context);
    if (values.batch !== undefined) {
      const { planBatch } = await import('../plan/plan-batch.js');
      return planBatch(values.batch, values, config, context);
    }
    const { told } = await taskFrom('plan', values, context);
    const said = outlineOf(told, DOOR, config, context);
    const outline =
      said.reviewOf === undefined
        ? said
        : await (await import('../request/reviewed.js')).withReviewedVendor(said, config, context);
    const schema = schemaOf(told.values, context);
    const picture = await pictureOf(context, config, told.values.refresh === true);
    const unfit =
      schema === undefined ? {} : (await import('../plan/schema-lanes.js')).lanesWithout(schema, outline.pin, config);
    const planned = planOne(
      { ...outline, ...(schema !== undefined && { schema }), ...unfit },
      picture,
      config,
      context.now(),
    );
    if (context.json) {
      const { planJson } = await import('../output/plan-json.js');
      const { printJson } = await import('../output/json.js');
      printJson(context, planJson(planned, picture, config, outline.batch ?? null));
    } else {
      const { planText } = await import('../output/plan-text.js');
      const { fitted } = await import('../output/table.js');
      const lines = planText(planned, picture, config, context.paint, context.now());
      for (const line of fitted(lines, context.output.columns, 4)) context.output.line(line);
    }
    return planned.decision.ok ? 0 : 3;
  },
});
