import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A claude login with tokens that no vendor knows. `inMs`: how long the access token still counts. */
export function writeLogin(
  path: string,
  {
    accessToken = 'sk-ant-oat01-dummy',
    refreshToken = 'sk-ant-ort01-dummy-1',
    inMs = 3_600_000,
  }: { accessToken?: string; refreshToken?: string; inMs?: number } = {},
): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    JSON.stringify({
      claudeAiOauth: {
        accessToken,
        refreshToken,
        expiresAt: Date.now() + inMs,
        scopes: ['user:inference', 'user:profile'],
        subscriptionType: 'max',
      },
    }),
    { mode: 0o600 },
  );
}
