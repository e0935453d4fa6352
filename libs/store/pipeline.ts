import type { ChainableCommander } from 'ioredis';

/**
 * Sends a pipeline and returns the replies, in order. ioredis resolves even when commands failed, each with its own
 * error: an empty listing would then look like "there is nothing", and a prompt that was not stored like one that was.
 * So the first error is thrown.
 */
export async function replies(pipeline: ChainableCommander): Promise<unknown[]> {
  const answers = (await pipeline.exec()) ?? [];
  return answers.map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}
