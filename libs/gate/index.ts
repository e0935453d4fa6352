export {
  openGate,
  waitsForQuota,
  type Admission,
  type Gate,
  type RefusalReason,
  type RenewedRun,
  type WindowEvent,
} from './gate.js';
export { laneFacts } from './facts.js';
export { settleCeiling } from './lane-rules.js';
export { openControls, pauseOf, slotsOf, type Controls } from './control.js';
export { gateParts } from './lua.js';
export { laneCost, thousandths, type CostsOf } from './points.js';
export { openWakes, type Wakes } from './wakes.js';
export type { AccountSnapshot, ReservationView, WindowSnapshot } from './snapshot.js';
