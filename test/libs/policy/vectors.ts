import { readFileSync } from 'node:fs';

/** A file of test/vectors, parsed; what its members mean is in test/vectors/README.md. */
export function vectorFile(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), 'utf8'));
}
