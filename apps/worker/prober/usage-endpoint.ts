import { VERSION, type LaneConfig } from '#contract';
import type { UsageAnswer } from '#probes';
import { endpointOf } from '#vendors';

const OFFICIAL = 'https://api.anthropic.com';
const PATH = '/api/oauth/usage';
const TIMEOUT_MS = 5_000;
const LARGEST_BYTES = 1024 * 1024;

/** Where a lane's usage is asked: where its CLI goes, so that the numbers are of the account that pays. */
export function usageUrlOf(lane: LaneConfig): { ok: true; url: string } | { ok: false; why: string } {
  const base = lane.env['ANTHROPIC_BASE_URL'];
  const said = lane.usageUrl ?? (base === undefined ? null : urlOn(base));
  if (said === null) {
    const endpoint = endpointOf(lane);
    return endpoint === null
      ? { ok: true, url: `${OFFICIAL}${PATH}` }
      : {
          ok: false,
          why: `lanes.${lane.id}.env leads its CLI to ${endpoint.host}, which has no subscription's windows`,
        };
  }
  // It is sent a login's token: as careful as with an endpoint of the CLI itself.
  const url = URL.canParse(said) ? new URL(said) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return { ok: false, why: `the usage url of lane ${lane.id} is no http address` };
  const loopback =
    url.hostname === 'localhost' || /^127(?:\.\d{1,3}){3}$/.test(url.hostname) || url.hostname === '[::1]';
  if (loopback || (url.protocol === 'https:' && (url.origin === OFFICIAL || lane.allowEndpoint)))
    return { ok: true, url: url.href };
  return {
    ok: false,
    why: `the usage of lane ${lane.id} would be asked of ${url.host}: that needs https, and lanes.${lane.id}.allowEndpoint`,
  };
}

function urlOn(base: string): string {
  return URL.canParse(base) ? new URL(PATH, base).href : base;
}

/** One question. Status 0: no answer. Never throws; the token goes into the header and nowhere else. */
export async function askUsage(url: string, token: string, timeoutMs = TIMEOUT_MS): Promise<UsageAnswer> {
  try {
    const response = await fetch(url, {
      headers: {
        authorization: `Bearer ${token}`,
        'anthropic-beta': 'oauth-2025-04-20',
        'anthropic-version': '2023-06-01',
        accept: 'application/json',
        'user-agent': `cmo/${VERSION}`,
      },
      // A redirect would carry the token to wherever it leads.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { httpStatus: response.status, headers: Object.fromEntries(response.headers), body: await bodyOf(response) };
  } catch {
    return { httpStatus: 0, body: '' };
  }
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > LARGEST_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
