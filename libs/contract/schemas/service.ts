import * as z from 'zod/mini';
import { SERVICE_KINDS, type ServiceData } from '../service.js';
import { flag, text, type Same } from './words.js';

export const serviceSchema = z.object({
  did: z.enum(['install', 'uninstall', 'status']),
  dryRun: flag,
  service: z.object({
    kind: z.nullable(z.enum(SERVICE_KINDS)),
    file: z.nullable(text),
    node: z.nullable(text),
    program: z.nullable(text),
    state: z.nullable(text),
    enabled: z.nullable(flag),
    running: z.nullable(flag),
    linger: z.nullable(flag),
    problems: z.array(z.object({ what: text, fix: text })),
  }),
  files: z.array(z.object({ path: text, text: z.nullable(text) })),
  commands: z.array(text),
  notes: z.array(text),
});
export const serviceIsRight: Same<z.infer<typeof serviceSchema>, ServiceData> = true;
