import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DispatchRecord, Progress, State } from '#contract';

/** The hash of a record: scalars that scripts compare stand as fields, documents as JSON they never open. */
export type Fields = Record<string, string>;

/**
 * A decision holds the facts it was made from, whole, and is read by people: packed it takes half the room in Redis.
 * Base64, since scripts hand fields on as JSON.
 */
const packed = (document: unknown): string => {
  const json = JSON.stringify(document);
  return json.length < 300 ? json : `z${deflateRawSync(json).toString('base64')}`;
};
const unpacked = (field: string): unknown =>
  JSON.parse(
    field.startsWith('z') ? inflateRawSync(Buffer.from(field.slice(1), 'base64')).toString() : field,
  ) as unknown;

const text = (value: string | number | null): string => (value === null ? '' : String(value));
const flag = (value: boolean): string => (value ? '1' : '0');

/**
 * What a field that is not there means; a new record names none of these: each costs 80 bytes of Redis, and most are
 * so.
 */
const DEFAULTS: readonly string[] = ['', 'null', '[]'];
const FLAGS: readonly string[] = ['cancelAsked', 'needsLook'];

export function recordFields(record: DispatchRecord, queue: string): Fields {
  const fields: Fields = {
    schema: '1',
    id: record.id,
    attempt: String(record.attempt),
    lane: text(record.lane),
    account: text(record.account),
    queue,
    home: record.home,
    node: text(record.node),
    nonce: '',
    class: record.class,
    project: record.project,
    access: record.access,
    tier: text(record.tier),
    cost: JSON.stringify(record.cost),
    submittedAt: String(record.submittedAt),
    notBefore: text(record.notBefore),
    waitUntil: text(record.waitUntil),
    startBy: text(record.startBy),
    endBy: text(record.endBy),
    left: JSON.stringify(record.left),
    startedAt: text(record.startedAt),
    endedAt: text(record.endedAt),
    cancelAsked: flag(record.cancelAsked),
    batch: record.request.batch ?? '',
    once: record.request.once ?? '',
    request: JSON.stringify(record.request),
    decision: packed(record.decision),
    history: JSON.stringify(record.history),
    takeUp: JSON.stringify(record.takeUp),
    error: JSON.stringify(record.error),
    needsLook: flag(record.needsLook),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => !DEFAULTS.includes(value) && !(FLAGS.includes(name) && value === '0'),
    ),
  );
}

/** Changes of a record in the same form; only what is named is written. */
export function changedFields(change: Partial<DispatchRecord> & { queue?: string }): Fields {
  const fields: Fields = {};
  const put = (name: string, value: string | undefined): void => {
    if (value !== undefined) fields[name] = value;
  };
  const {
    attempt,
    lane,
    account,
    queue,
    tier,
    cost,
    notBefore,
    waitUntil,
    decision,
    history,
    takeUp,
    left,
    error,
    needsLook,
    node,
  } = change;
  put('attempt', attempt === undefined ? undefined : String(attempt));
  put('lane', lane === undefined ? undefined : text(lane));
  put('account', account === undefined ? undefined : text(account));
  put('queue', queue);
  put('node', node === undefined ? undefined : text(node));
  put('tier', tier === undefined ? undefined : text(tier));
  put('cost', cost === undefined ? undefined : JSON.stringify(cost));
  put('notBefore', notBefore === undefined ? undefined : text(notBefore));
  put('waitUntil', waitUntil === undefined ? undefined : text(waitUntil));
  put('left', left === undefined ? undefined : JSON.stringify(left));
  put('decision', decision === undefined ? undefined : packed(decision));
  put('history', history === undefined ? undefined : JSON.stringify(history));
  put('takeUp', takeUp === undefined ? undefined : JSON.stringify(takeUp));
  put('error', error === undefined ? undefined : JSON.stringify(error));
  put('needsLook', needsLook === undefined ? undefined : flag(needsLook));
  return fields;
}

/** Of an attempt that is over it says nothing more. */
function progressOf(get: (name: string) => string): Pick<DispatchRecord, 'progress'> {
  if (get('progress') === '' || get('state') !== 'running') return {};
  const progress = JSON.parse(get('progress')) as Omit<Progress, 'movedAt'>;
  return String(progress.attempt) === get('attempt')
    ? { progress: { ...progress, movedAt: Number(get('movedAt')) } }
    : {};
}

export function parseRecord(fields: Fields): DispatchRecord | null {
  const get = (name: string): string => fields[name] ?? '';
  if (get('id') === '' || get('schema') !== '1') return null;
  const number = (name: string): number | null => (get(name) === '' ? null : Number(get(name)));
  const word = (name: string): string | null => (get(name) === '' ? null : get(name));
  // The documents were written by recordFields of the same schema number.
  return {
    schema: 1,
    id: get('id'),
    state: get('state') as State,
    attempt: Number(get('attempt')),
    lane: word('lane'),
    account: word('account'),
    home: get('home'),
    node: word('node'),
    class: get('class') as DispatchRecord['class'],
    project: get('project'),
    access: get('access') as DispatchRecord['access'],
    tier: word('tier'),
    cost: JSON.parse(get('cost')) as DispatchRecord['cost'],
    tag: Number(get('tag')),
    submittedAt: Number(get('submittedAt')),
    notBefore: number('notBefore'),
    waitUntil: number('waitUntil'),
    startBy: number('startBy'),
    endBy: number('endBy'),
    left: JSON.parse(get('left') || '[]') as DispatchRecord['left'],
    retriedBy: word('retriedBy'),
    startedAt: number('startedAt'),
    endedAt: number('endedAt'),
    cancelAsked: get('cancelAsked') === '1',
    request: JSON.parse(get('request')) as DispatchRecord['request'],
    decision: unpacked(get('decision')) as DispatchRecord['decision'],
    history: JSON.parse(get('history') || '[]') as DispatchRecord['history'],
    takeUp: JSON.parse(get('takeUp') || 'null') as DispatchRecord['takeUp'],
    error: JSON.parse(get('error') || 'null') as DispatchRecord['error'],
    needsLook: get('needsLook') === '1',
    ...(get('state') === 'queued' && get('behind') !== '' && get('behindAs') === get('attempt')
      ? { behind: get('behind') }
      : {}),
    ...progressOf(get),
  };
}
