import type { LaneConfig } from '#contract';
import { isBillingName } from './billing-names.js';

export type Endpoint = {
  /** Host with its port, or `api key` when only a key or token is set. Never the key. */
  host: string;
  loopback: boolean;
  /** Why the lane may not run like this, null when it may. */
  error: string | null;
};

const URL_NAME = /(?:^|_)(?:BASE_URL|API_BASE|ENDPOINT|HOST|URL)$/;

/** Where `lanes.<id>.env` points a CLI, null when it leaves it with the subscription. */
export function endpointOf(lane: Pick<LaneConfig, 'id' | 'env' | 'allowEndpoint'>): Endpoint | null {
  const names = Object.keys(lane.env).filter(isBillingName);
  const [first] = names;
  if (first === undefined) return null;
  const urls = names.filter((name) => URL_NAME.test(name.toUpperCase())).map((name) => hostOf(lane.env[name] ?? ''));
  const away = urls.find((url) => !url.loopback);
  const { host, loopback } = away ?? urls[0] ?? { host: 'api key', loopback: false };
  const error =
    loopback || lane.allowEndpoint
      ? null
      : `lanes.${lane.id}.env sets ${first}, which leads to ${host}: set lanes.${lane.id}.allowEndpoint to true if it shall`;
  return { host, loopback, error };
}

function hostOf(value: string): { host: string; loopback: boolean } {
  try {
    const { host, hostname } = new URL(value.includes('://') ? value : `http://${value}`);
    return {
      host,
      loopback:
        hostname === 'localhost' ||
        hostname.endsWith('.localhost') ||
        /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
        hostname === '[::1]',
    };
  } catch {
    // Not shown: a value in the wrong place may be a key.
    return { host: 'unreadable url', loopback: false };
  }
}
