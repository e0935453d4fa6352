import { CmoError, errorBody, SERVICE_KINDS, type ServiceData, type ServiceState } from '#contract';
import { makeOwnFolder } from '#config';
import { stopDaemon } from '#daemon/client';
import { command, type Context } from '../command.js';
import { on, OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { oneOf } from '../flags/one-of.js';
import { word } from '../flags/readers.js';
import { printData } from '../output/json.js';
import { serviceBox } from '../service/box.js';
import { lookAtService } from '../service/look.js';
import { isRunByService, ownDefinition, ownNames } from '../service/own.js';
import { perform, told } from '../service/perform.js';
import { choose, installPlan, uninstallPlan } from '../service/plan.js';
import { serviceText } from '../output/service-text.js';

const WHAT = ['install', 'uninstall', 'status'] as const;

export const service = command({
  name: 'service',
  summary: 'have the box run the daemon, so that queued work goes on after a reboot',
  words: { shown: WHAT.join(' | '), min: 1, max: 1 },
  flags: {
    dryRun: on('--dry-run', 'only show the file and the commands (install, uninstall)'),
    by: valued(
      '--by',
      'KIND',
      word(SERVICE_KINDS),
      `${SERVICE_KINDS.join(', ')} (install); default: the first that works here`,
    ),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.service/1',
  examples: ['cmo service install --dry-run', 'cmo service install', 'cmo service status'],
  notes: [
    'It is a unit of your own systemd; where that cannot be reached, a line in your crontab; on macOS, a launchd agent. Agents go on when the daemon is stopped, restarted or crashes.',
    'Install it again to bring it up to date: after an update that moved the program, or to give it the PATH of your present shell.',
    'It is given PATH and the folders, but no key and no password. It stays up when idle; `cmo down` stops it until the next boot.',
  ],
  async run({ values, words }, context) {
    const [typed = ''] = words;
    const did = oneOf(WHAT, typed, { command: 'service' });
    if (values.by !== undefined && did !== 'install')
      throw new CmoError(
        errorBody('CMO_E_USAGE', '--by goes with `cmo service install`', { fix: `\`cmo service ${did}\`` }),
      );
    if (values.dryRun && did === 'status')
      throw new CmoError(
        errorBody('CMO_E_USAGE', 'status changes nothing: --dry-run goes with install and uninstall', {
          fix: '`cmo service status`',
        }),
      );
    const data = await done(did, { dryRun: values.dryRun ?? false, by: values.by }, context);
    if (context.json) printData(context, 'cmo.service/1', data);
    else for (const text of serviceText(data, context.paint)) context.output.line(text);
    return 0;
  },
});

type Options = { dryRun: boolean; by: (typeof SERVICE_KINDS)[number] | undefined };

async function done(did: ServiceData['did'], { dryRun, by }: Options, context: Context): Promise<ServiceData> {
  const box = serviceBox(context);
  const running = await isRunByService(context);
  const look = async (): Promise<ServiceState> => lookAtService(box, ownNames(context), await isRunByService(context));
  const finish = async (actions: Parameters<typeof told>[0], notes: string[]): Promise<ServiceData> => {
    if (!dryRun) await perform(actions, box, () => leave(context));
    return { did, dryRun, service: await look(), ...told(actions), notes };
  };
  switch (did) {
    case 'install': {
      const { definition, notes } = ownDefinition(context);
      const chosen = choose(box, by, definition);
      if (!dryRun) makeFolders(context);
      return finish(installPlan(box, chosen, definition, running), [...notes, ...chosen.notes]);
    }
    case 'uninstall':
      return finish(
        uninstallPlan(box, running),
        running ? ['its daemon has stopped; agents go on, and the next command starts a daemon'] : [],
      );
    case 'status':
      return finish([], []);
  }
}

/** What starts the daemon writes its first words there, and makes no folders. */
function makeFolders({ paths }: Context): void {
  for (const folder of [paths.state, paths.logs]) {
    const problem = makeOwnFolder(folder);
    if (problem !== null)
      throw new CmoError(errorBody('CMO_E_STATE_FOLDER', `the folder ${folder} is not usable: ${problem}`));
  }
}

/** With its Redis, which a service's daemon leaves running for the next one. */
async function leave({ paths }: Context): Promise<void> {
  const stopped = await stopDaemon(paths, { kill: false });
  if (!stopped.ok) throw new CmoError(stopped.error);
}
