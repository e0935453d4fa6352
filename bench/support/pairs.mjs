// One process of the throughput half of bench/gate.mjs: some connections, each of which does pairs of commands one
// after the other until the time is over. Prints `ready`, waits for the round's name in Redis, and prints
// how many pairs each round did, how long they took (ms), and what a call took of the processor (us).
import { Redis } from 'ioredis';
import { openGate } from '#gate';
import { queueName } from '#store';

const [socket, text, connections, ...rounds] = process.argv.slice(2);
const config = JSON.parse(text);
const lane = config.lanes[0];
const queue = queueName(lane.id, config.nodeId);
const clients = Array.from({ length: Number(connections) }, () => {
  const redis = new Redis({ path: socket });
  return { redis, gate: openGate(redis, config) };
});

const PAIRS = {
  gate: async ({ gate }, token) => {
    const answer = await gate.reserve(token, lane, queue, config.nodeId);
    if (!answer.ok) throw new Error(`refused: ${answer.reason}`);
    await gate.giveBack(token, lane.account);
  },
  floor: async ({ redis }, token) => {
    await redis.set(`floor:${token}`, '1');
    await redis.del(`floor:${token}`);
  },
};

/** Each round is announced by a key that holds its end, in this box's time. */
async function round(name) {
  const [{ redis }] = clients;
  let until = null;
  while ((until = await redis.get(`round:${name}`)) === null) await new Promise((resolve) => setTimeout(resolve, 5));
  const [way] = name.split('-');
  const took = [];
  const before = process.cpuUsage();
  await Promise.all(
    clients.map(async (client, i) => {
      for (let n = 0; Date.now() < Number(until); n++) {
        const from = performance.now();
        await PAIRS[way](client, `${process.pid}-${i}-${n}`);
        took.push(performance.now() - from);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  await redis.incr(`done:${name}`);
  const sorted = took.sort((a, b) => a - b);
  return {
    name,
    pairs: took.length,
    processor: (user + system) / took.length / 2,
    p50: sorted[Math.floor(sorted.length * 0.5)],
    p99: sorted[Math.floor(sorted.length * 0.99)],
  };
}

process.stdout.write('ready\n');
const done = [];
for (const name of rounds) done.push(await round(name));
process.stdout.write(JSON.stringify(done));
for (const { redis } of clients) redis.disconnect();
