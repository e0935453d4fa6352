import { DISPATCH_ID, errorBody, isEnded, type DispatchRequest, type ErrorBody, type ReceiptLine } from '#contract';
import type { Records, StoredText } from '#store';

/**
 * What is to be graded: who really made it, and what it came to (null: only its receipt is left). Or why there is
 * nothing to grade.
 */
export type Reviewed = { ok: true; vendor: string; output: StoredText | null } | Refused;
type Refused = { ok: false; error: ErrorBody };

/** Replaced in a reviewer's task by the reviewed output. Only this exact text, so that other braces mean nothing. */
const OUTPUT_TOKEN = '{{review.output}}';

const NAME_FILES = `leave ${OUTPUT_TOKEN} out of the task, and name files instead`;

type Sources = { records: Pick<Records, 'read' | 'text'>; receipts(dispatch: string): Promise<ReceiptLine[]> };

/**
 * The vendor of the attempt that answered, from the record, else from its receipt: where the first decision put the
 * work says nothing, since a closed window moves it.
 */
export async function readReviewed(id: string, { records, receipts }: Sources): Promise<Reviewed> {
  const record = DISPATCH_ID.test(id) ? await records.read(id) : null;
  if (record === null) {
    const line = (await receipts(id)).find((one) => one.kind === 'dispatch');
    if (line === undefined) return refused('CMO_E_NO_DISPATCH', `nothing to review: no dispatch ${id}`);
    return line.ok && line.vendor !== null ? { ok: true, vendor: line.vendor, output: null } : nothing(id, line.state);
  }
  if (!isEnded(record.state))
    return refused(
      'CMO_E_UNSATISFIABLE',
      `${id} has no output yet: it is ${record.state}`,
      `wait for it: \`cmo wait ${id}\``,
    );
  const made = record.history.findLast(({ outcome }) => outcome === 'ok');
  if (record.state !== 'succeeded' || made === undefined) return nothing(id, record.state);
  return { ok: true, vendor: made.vendor, output: await records.text(id, 'result') };
}

function nothing(id: string, state: string): Refused {
  return refused(
    'CMO_E_UNSATISFIABLE',
    `${id} has no output: it ended ${state}`,
    `\`cmo show ${id}\` says why; what it left in its folder is reviewed with --independent-of`,
  );
}

function refused(code: 'CMO_E_NO_DISPATCH' | 'CMO_E_UNSATISFIABLE', message: string, fix?: string): Refused {
  return { ok: false, error: errorBody(code, message, fix === undefined ? {} : { fix }) };
}

/** The request as it is decided and run: independent of the real maker, and with the output in its place. */
export function withReview(
  request: DispatchRequest,
  reviewed: Reviewed,
): { ok: true; request: DispatchRequest } | Refused {
  if (!reviewed.ok) return reviewed;
  const { vendor, output } = reviewed;
  const asked = request.prompt.includes(OUTPUT_TOKEN);
  if (asked && output === null) {
    return refused(
      'CMO_E_UNSATISFIABLE',
      `the output of ${request.reviewOf ?? ''} is not kept any more; only its receipt is`,
      NAME_FILES,
    );
  }
  // A reviewer that sees only the head would grade something that was never written.
  if (asked && output?.cut) {
    const { bytes, node, file } = output.cut;
    return refused(
      'CMO_E_UNSATISFIABLE',
      `the whole output of ${request.reviewOf ?? ''} (${bytes} bytes) can't be read here: it is blobs/${file} in the state folder of ${node}`,
      NAME_FILES,
    );
  }
  // split, so that neither the output's own `$&` nor a token inside it is read.
  const prompt = asked ? request.prompt.split(OUTPUT_TOKEN).join(output?.text ?? '') : request.prompt;
  return { ok: true, request: { ...request, independentOf: vendor, prompt } };
}
