import { CmoError, errorBody, type Config } from '#contract';
import { schemaRulings, schemaVerdict } from '#vendors/schema-rules';

/**
 * As the daemon looks at a schema, but for whether it is one at all, which takes a library: the lanes that would not
 * take it.
 */
export function lanesWithout(schema: unknown, pin: string | undefined, config: Config): { schemaRefusedBy?: string[] } {
  const lanes = config.lanes.filter(({ id }) => pin === undefined || id === pin);
  const { none, refusedBy, refused } = schemaVerdict(lanes, schemaRulings(lanes, schema));
  if (none)
    throw new CmoError(
      errorBody('CMO_E_SCHEMA_FILE', 'no permitted lane takes this schema', {
        details: refused,
        fix: 'fix what is named above',
      }),
    );
  return refusedBy.length === 0 ? {} : { schemaRefusedBy: refusedBy };
}
