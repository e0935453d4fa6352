// Whether this run of the suite includes the vendors' own CLIs:
// vitest.config.ts takes test/real in when they are in the cache.
import { fetchClis, presentClis } from '../real-clis.mjs';
import { say } from '../setup/command.mjs';

/** With CI=true they are fetched when missing. Resolves to null, or to why they can't be had. */
export async function provideRealClis(env) {
  if (presentClis()) return null;
  if (env.CI !== 'true') {
    say(
      'the tests with the real codex and claude are left out: `node scripts/real-clis.mjs` fetches both (about 1 GB), no login needed',
    );
    return null;
  }
  try {
    await fetchClis();
    return null;
  } catch (error) {
    return error.message;
  }
}
