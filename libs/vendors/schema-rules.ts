import type { LaneConfig } from '#contract';
import { claudeSchemaRuling, objectSchema } from './claude/schema-rules.js';
import { closedSchema, codexSchemaRuling } from './codex/schema-rules.js';
import { isObject } from './json.js';
import type { SchemaRuling } from './schema-nodes.js';

/** The vendor's rules over a valid schema (answerCheck says whether it is one). */
export function schemaRuling(kind: LaneConfig['kind'], schema: unknown): SchemaRuling {
  if (!isObject(schema)) return { refused: ['a JSON Schema is an object'], doubtful: [] };
  return kind === 'codex' ? codexSchemaRuling(schema) : claudeSchemaRuling(schema);
}

/**
 * The schema's text as this CLI is given it. Whatever fits it fits the one that was asked for; the answer is held to
 * that one.
 */
export function schemaAsGiven(kind: LaneConfig['kind'], text: string): string {
  const schema: unknown = JSON.parse(text);
  if (!isObject(schema)) return text;
  return JSON.stringify(kind === 'codex' ? closedSchema(schema) : objectSchema(schema));
}

export type SchemaRulings = Partial<Record<LaneConfig['kind'], SchemaRuling>>;

export function schemaRulings(lanes: readonly LaneConfig[], schema: unknown): SchemaRulings {
  return Object.fromEntries(
    [...new Set(lanes.map(({ kind }) => kind))].map((kind) => [kind, schemaRuling(kind, schema)]),
  );
}

/**
 * What the rulings mean for work that may run on these lanes: those that never take it (`refusedBy`), and the lines for
 * its sender. With `none`, no lane is left. What may be refused is only told: the vendors change what they take.
 */
export type SchemaVerdict = { none: boolean; refusedBy: string[]; refused: string[]; warnings: string[] };

export function schemaVerdict(lanes: readonly LaneConfig[], rulings: SchemaRulings): SchemaVerdict {
  const lines = (lane: LaneConfig, which: keyof SchemaRuling): string[] =>
    (rulings[lane.kind]?.[which] ?? []).map((line) => `${lane.id}'s structured output: ${line}`);
  const refusing = lanes.filter((lane) => lines(lane, 'refused').length > 0);
  const refused = refusing.flatMap((lane) => lines(lane, 'refused'));
  const warnings = [
    ...refusing.map((lane) => `${lane.id} is left out: it does not take this schema`),
    ...refused,
    ...lanes.flatMap((lane) => lines(lane, 'doubtful')),
  ];
  return {
    none: refusing.length > 0 && refusing.length === lanes.length,
    refusedBy: refusing.map(({ id }) => id),
    refused: refused.slice(0, MOST_LINES),
    warnings: warnings.slice(0, MOST_LINES),
  };
}

const MOST_LINES = 20;
