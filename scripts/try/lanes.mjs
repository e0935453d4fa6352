// Where the two lanes of a scratch box lead: to the stand-in CLIs, or, when the vendor's own CLI is installed, to that
// one with a scratch home and the simulator as its vendor. Neither can reach a login or a vendor.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const config = (url) => `model_provider = "sim"
[model_providers.sim]
name = "sim"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "SIM_KEY"
request_max_retries = 1
stream_max_retries = 1
`;

/** @returns the lane's member of the configuration file */
export function simulatedLane(id, command, url, folder) {
  const home = join(folder, `${id}-home`);
  mkdirSync(home, { recursive: true });
  if (id === 'codex') {
    writeFileSync(join(home, 'config.toml'), config(url));
    return { command, env: { CODEX_HOME: home, SIM_KEY: 'dummy' } };
  }
  return {
    command,
    env: {
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-dummy',
      CLAUDE_CONFIG_DIR: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Without it claude refuses to run unattended as root.
      ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
    },
  };
}

/** @param more variables of the stand-ins: see test/fixtures/bin/README.md */
export function standInLane(id, command, folder, more = {}) {
  const home = join(folder, `${id}-home`);
  mkdirSync(home, { recursive: true });
  return {
    command,
    env: {
      [id === 'codex' ? 'CODEX_HOME' : 'CLAUDE_CONFIG_DIR']: home,
      CMO_TEST_LEDGER: join(folder, 'ledger.jsonl'),
      ...more,
    },
  };
}
