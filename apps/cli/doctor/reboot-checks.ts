import { CmoError } from '#contract';
import { serviceBox } from '../service/box.js';
import { lookAtService } from '../service/look.js';
import { isRunByService, ownDefinition, ownNames } from '../service/own.js';
import { choose } from '../service/plan.js';
import { ok, warn, type Check, type Patient, type Row } from './row.js';

/** Nights are lost to what was forgotten in the evening: an update that reboots the box at three. */
export const REBOOT_CHECKS: readonly Check[] = [{ group: 'reboot', look: reboot }];

async function reboot({ context }: Patient): Promise<Row[]> {
  const box = serviceBox(context);
  const state = lookAtService(box, ownNames(context), await isRunByService(context));
  const { kind, file, problems } = state;
  if (kind === null)
    return [
      warn(
        'reboot',
        'after a reboot, queued work would wait until somebody types a cmo command: no service is installed',
        fixFor(context),
      ),
    ];
  if (problems.length > 0)
    return problems.map(({ what, fix }) => warn('reboot', `after a reboot, queued work would not go on: ${what}`, fix));
  return [
    ok(
      'reboot',
      `queued work goes on ${kind === 'launchd' ? 'when you log in' : 'by itself'} after a reboot: ${kind}, ${file}`,
    ),
  ];

  /** Where nothing here can run a service, what to tell whatever can. */
  function fixFor(patient: Patient['context']): string {
    try {
      choose(box, undefined, ownDefinition(patient).definition);
    } catch (error) {
      if (error instanceof CmoError && error.body.code === 'CMO_E_SERVICE') return error.body.fix;
    }
    return '`cmo service install`';
  }
}
