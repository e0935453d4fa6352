import type { Answer, ErrorBody } from '#contract';
import type { Context } from '../command.js';

export function printJson({ output }: Context, value: unknown): void {
  output.line(JSON.stringify(value, null, 2));
}

export function printData<T>(context: Context, schema: string, data: T): void {
  const answer: Answer<T> = { schema, ok: true, data };
  printJson(context, answer);
}

export function printError(context: Context, schema: string, error: ErrorBody): void {
  printJson(context, { schema, ok: false, error });
}
