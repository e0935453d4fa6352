export { onceConflict, openQueue, type DispatchQueue } from './queue.js';
export { labelsOf, type NewDispatch } from './submission.js';
export { forgetRecords } from './forget.js';
export { openTickets, type TicketData, type TicketOf, type Tickets } from './tickets.js';
export {
  openTransitions,
  type Closing,
  type DeliverAnswer,
  type Next,
  type StartAnswer,
  type Transitions,
} from './transitions.js';
export { gatedBackend, type Doorkeeper } from './gated-backend.js';
