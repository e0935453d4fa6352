import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { presentClis } from './scripts/real-clis.mjs';

/** The tests with the vendors' own CLIs need what `scripts/real-clis.mjs` fetches. */
const withoutRealClis = presentClis() ? [] : ['test/real/**'];

/** `import text from './x.lua'` gives the file's text, as esbuild's text loader does in the bundle. */
const textModules = {
  name: 'text-modules',
  enforce: 'pre' as const,
  load(id: string) {
    const path = id.split('?')[0] ?? id;
    return /\.(lua|sh)$/.test(path) ? `export default ${JSON.stringify(readFileSync(path, 'utf8'))};` : undefined;
  },
};

export default defineConfig({
  plugins: [textModules],
  // The condition must stand in ssr.resolve: resolve.conditions alone silently tests a stale dist.
  ssr: {
    resolve: {
      conditions: ['cmo-source', 'node', 'import', 'module', 'default'],
      externalConditions: ['node', 'import', 'module', 'default'],
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/vendor-sim/**', 'node_modules/**', ...withoutRealClis],
    setupFiles: ['test/support/each-file.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Most tests run real processes against kills, clocks and a shared box: what fails for one moment gets two more
    // tries. A test that needs them is a defect to fix, not to live with: vitest's report names it.
    retry: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globals: false,
    unstubEnvs: true,
  },
});
