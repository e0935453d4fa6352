import { script } from '#store';
import gate from './lua/gate.lua';
import close from './lua/close.lua';
import reserve from './lua/reserve.lua';
import giveBack from './lua/give-back.lua';
import meter from './lua/meter.lua';
import renew from './lua/renew.lua';
import recount from './lua/recount.lua';
import lend from './lua/lend.lua';
import snapshot from './lua/snapshot.lua';

/** The parts that scripts of other libs include when they touch record and gate together. */
export const gateParts: { gate: string; close: string } = { gate, close };

const withGate = (name: string, text: string): ReturnType<typeof script> => script(name, `${gate}\n${text}`);

export const operations = {
  reserve: withGate('reserve', reserve),
  giveBack: withGate('give-back', giveBack),
  meter: withGate('meter', meter),
  renew: withGate('renew', renew),
  recount: withGate('recount', recount),
  lend: withGate('lend', lend),
  snapshot: withGate('snapshot', snapshot),
};
