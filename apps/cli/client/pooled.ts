/** Requests in flight at once: each is a connection, and a process may have a thousand of them at most. */
export const WIDTH = 32;

/** The answers in the order of the questions. */
export async function pooled<Q, A>(questions: readonly Q[], ask: (question: Q) => Promise<A>): Promise<A[]> {
  const answers = new Map<number, A>();
  const left = questions.entries();
  const one = async (): Promise<void> => {
    for (const [i, question] of left) answers.set(i, await ask(question));
  };
  await Promise.all(Array.from({ length: Math.min(WIDTH, questions.length) }, one));
  return questions.flatMap((_, i) => (answers.has(i) ? [answers.get(i) as A] : []));
}
