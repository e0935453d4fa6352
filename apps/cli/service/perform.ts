import { CmoError, errorBody, type ServiceData } from '#contract';
import type { ServiceBox } from './box.js';
import { shellLine } from './definition.js';
import type { Action } from './plan.js';
import type { Step } from './platform.js';

/** A daemon that is restarted hands over first. */
const CHANGE_MS = 100_000;

/**
 * Does it, in order, and stops at the first that fails: `cmo service status` then says how it stands, and the same can
 * be typed again.
 */
export async function perform(actions: readonly Action[], box: ServiceBox, leave: () => Promise<void>): Promise<void> {
  for (const action of actions) {
    switch (action.do) {
      case 'write':
        written(action.path, () => box.write(action.path, action.text, action.mode));
        break;
      case 'remove':
        written(action.path, () => box.remove(action.path));
        break;
      case 'run':
        run(action.step, box);
        break;
      case 'table':
        run({ run: ['crontab', '-'] }, box, action.text);
        break;
      case 'leave':
        await leave();
        break;
      case 'start':
        box.start(action.argv);
        break;
    }
  }
}

function written(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new CmoError(errorBody('CMO_E_SERVICE', `${path} can't be changed: ${(error as Error).message}`));
  }
}

function run({ run: argv, mayFail }: Step, box: ServiceBox, input?: string): void {
  const { found, exit, why } = box.run(argv, { ...(input !== undefined && { input }), boundMs: CHANGE_MS });
  if (exit === 0 || mayFail) return;
  throw new CmoError(
    errorBody('CMO_E_SERVICE', `\`${shellLine(argv)}\` failed: ${found ? why : 'there is no such program'}`),
  );
}

/** For people and programs. */
export function told(actions: readonly Action[]): Pick<ServiceData, 'files' | 'commands'> {
  const files: ServiceData['files'] = [];
  const commands: string[] = [];
  for (const action of actions) {
    switch (action.do) {
      case 'write':
        files.push({ path: action.path, text: action.text });
        break;
      case 'remove':
        files.push({ path: action.path, text: null });
        break;
      case 'run':
        commands.push(shellLine(action.step.run));
        break;
      case 'table':
        commands.push('crontab -');
        break;
      case 'leave':
        commands.push('(the daemon leaves, its agents go on)');
        break;
      case 'start':
        commands.push(`${shellLine(action.argv)} &`);
        break;
    }
  }
  return { files, commands };
}
