import { DEFAULT_CONFIG, LENGTHS, policyConfig, ROLES, type Decision, type LanesFacts, type Task } from '#contract';
import { decide } from '#policy/decide';
import { replay } from '#policy/replay';
import { weightOf } from '#policy/weight';
import { captureEnvironment } from '#vendors/environment';
import { explainFailure } from '#vendors/explain';
import { readDispatchFile } from '../request/dispatch-file.js';

export type Check = { name: string; ok: boolean; seen: string };

/** What must be true of this very program, whatever its configuration: with the defaults, offline, in a moment. */
export async function checks(): Promise<Check[]> {
  return [weights(), repeats(), independence(), judges(), deferral(), headers(), billing(), await limitSentence()];
}

const policy = policyConfig(DEFAULT_CONFIG);
const at = (codex: number, claude: number): LanesFacts => ({
  codex: { available: true, worstPercent: codex, nextResetAt: '2030-01-01T05:00:00Z' },
  claude: { available: true, worstPercent: claude, nextResetAt: '2030-01-01T03:00:00Z' },
});
const on = (task: Task, codex: number, claude: number): Decision => decide(task, at(codex, claude), policy);

function check(name: string, ok: boolean, seen: string): Check {
  return { name, ok, seen };
}

function weights(): Check {
  const all = ROLES.flatMap((role) =>
    LENGTHS.flatMap((length) => [1, 2, 3, 4, 5].map((complexity) => weightOf({ role, length, complexity }))),
  );
  const rising = ROLES.every((role) =>
    LENGTHS.every((length) =>
      [2, 3, 4, 5].every(
        (complexity) => weightOf({ role, length, complexity }) > weightOf({ role, length, complexity: complexity - 1 }),
      ),
    ),
  );
  const sum = Number(all.reduce((a, b) => a + b, 0).toFixed(3));
  return check(
    'weights: 175 of them, in thousandths, rising with the complexity',
    rising && all.every((weight) => weight >= 0 && weight <= 1) && sum === WEIGHT_SUM,
    `their sum is ${sum}`,
  );
}
/** Of the 175 values of the documented expression; another rounding has another sum. */
const WEIGHT_SUM = 91.99;

function repeats(): Check {
  const tasks: Task[] = ROLES.map((role) => ({ role, independentOf: 'codex' }));
  const odd = tasks.filter((task) => {
    const again = replay(on(task, 90, 40), policy);
    return !again.ok || !again.same;
  });
  return check(
    'a decision made again from its own facts is the same',
    odd.length === 0,
    `${tasks.length - odd.length} of ${tasks.length}`,
  );
}

function independence(): Check {
  const other = on({ role: 'review', independentOf: 'codex' }, 10, 90);
  const degraded = on({ role: 'review', independentOf: 'codex' }, 10, 99);
  const strict = on({ role: 'review', independentOf: 'codex', strictIndependence: true }, 10, 99);
  const ok =
    other.independence === 'cross-vendor' &&
    degraded.ok &&
    degraded.degradedReview &&
    degraded.independence === 'same-vendor' &&
    !strict.ok;
  return check(
    'graders: another vendor, or labelled, or deferred',
    ok,
    [other, degraded, strict].map((one) => one.independence ?? 'none').join(', '),
  );
}

function judges(): Check {
  const tiers = [1, 3, 5].map((complexity) => on({ role: 'judge', complexity, length: 'xs' }, 10, 10).tier);
  return check('no judge on the fast tier', !tiers.includes('fast'), tiers.join(', '));
}

function deferral(): Check {
  const both = on({}, 99, 99);
  const ok = !both.ok && both.resumeAfter === '2030-01-01T03:00:00Z';
  return check(
    'both windows full: deferred until the first reset',
    ok,
    both.ok ? both.lane : (both.resumeAfter ?? 'no reset'),
  );
}

function headers(): Check {
  const file = readDispatchFile('\uFEFFDISPATCH\r\nrole: judge\r\nTASK\r\nfull-access: true\r\n');
  const ok = file.ok && file.header.length === 1 && file.task === 'full-access: true\r\n';
  return check(
    'dispatch files: read under any line ends, and never from the task',
    ok,
    file.ok ? `${file.header.length} parameter` : 'refused',
  );
}

function billing(): Check {
  const names = [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_AUTH_TOKEN',
    'CODEX_API_KEY',
    'OPENAI_BASE_URL',
    'CLAUDE_CODE_USE_BEDROCK',
  ];
  const { env } = captureEnvironment(
    { PATH: '/bin', ...Object.fromEntries(names.map((name) => [name, 'x'])) },
    { names: [], values: {} },
  );
  const passed = names.filter((name) => Object.hasOwn(env, name));
  return check(
    'no variable of another billing path reaches an agent',
    passed.length === 0 && env['PATH'] === '/bin',
    passed.length === 0 ? `${names.length} kept back` : passed.join(', '),
  );
}

async function limitSentence(): Promise<Check> {
  const said = await explainFailure({
    vendor: 'codex',
    mode: 'json',
    exitCode: 1,
    signal: null,
    timedOut: false,
    stdout: '',
    stderr: "ERROR: You've hit your usage limit. Try again later.",
    now: '2030-01-01T00:00:00Z',
    hostTimeZone: 'UTC',
  });
  const seen = 'class' in said ? String(said.class) : JSON.stringify(said);
  return check('a vendor’s limit sentence is read as one', seen === 'usage_limit', seen);
}
