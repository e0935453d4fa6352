import { request } from 'node:http';

/** POST /v1/shutdown. True: the daemon said it will. False: it is gone, hangs, or does not understand. */
export function askShutdown(
  socketPath: string,
  options: { kill: boolean; keepRedis: boolean },
  timeoutMs = 10_000,
): Promise<boolean> {
  return new Promise((resolve) => {
    const body = JSON.stringify(options);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    };
    const call = request({ socketPath, method: 'POST', path: '/v1/shutdown', headers, agent: false });
    const settle = (asked: boolean): void => {
      clearTimeout(timer);
      resolve(asked);
      call.destroy();
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    call.on('error', () => settle(false));
    call.on('response', (response) => {
      response.resume();
      response.on('end', () => settle(response.statusCode === 200));
    });
    call.end(body);
  });
}
