import { gateParts } from '#gate';
import { recordLua, script } from '#store';
import submit from './lua/submit.lua';
import start from './lua/start.lua';
import deliver from './lua/deliver.lua';
import change from './lua/change.lua';
import cancel from './lua/cancel.lua';
import unstart from './lua/unstart.lua';
import forget from './lua/forget.lua';
import assertRun from './lua/assert-run.lua';
import behind from './lua/behind.lua';
import progress from './lua/progress.lua';

const parts = { ...gateParts, record: recordLua };

export const operations = {
  submit: script('submit', submit, parts),
  start: script('start', start, parts),
  deliver: script('deliver', deliver, parts),
  change: script('change', change, parts),
  forget: script('forget', forget, parts),
  cancel: script('cancel', cancel, parts),
  unstart: script('unstart', unstart, parts),
  assertRun: script('assert-run', assertRun, parts),
  progress: script('progress', progress),
  behind: script('behind', behind),
};
