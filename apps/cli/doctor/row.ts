import type { Config } from '#contract';
import type { Loaded } from '#config';
import type { Context } from '../command.js';

/** One thing that was looked at. `fix`: what to type, or null when nothing is to be done. */
export type Row = { id: string; status: 'ok' | 'warn' | 'fail' | 'skipped'; seen: string; fix: string | null };

/** `config` are the defaults when the person's own can't be read: everything else is looked at all the same. */
export type Patient = { context: Context; loaded: Loaded; config: Config };

/** Checks of one kind. They spend nothing, change nothing and end by themselves. */
export type Check = { group: string; look(patient: Patient): Promise<Row[]> };

export const ok = (id: string, seen: string): Row => ({ id, status: 'ok', seen, fix: null });
export const warn = (id: string, seen: string, fix: string | null): Row => ({ id, status: 'warn', seen, fix });
export const fail = (id: string, seen: string, fix: string): Row => ({ id, status: 'fail', seen, fix });
export const skipped = (id: string, seen: string): Row => ({ id, status: 'skipped', seen, fix: null });
