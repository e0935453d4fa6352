/** What a person or a shell may send to a client that waits. */
export type Leaving = 'SIGTERM' | 'SIGHUP';
export type SignalHandlers = {
  /** Ctrl-C, the first. */
  onInterrupt(): void;
  /** Ctrl-C again: whatever is being done, leave now. */
  onSecondInterrupt(): void;
  /** The terminal closed, or somebody ended us: the agent goes on. */
  onLeave(signal: Leaving): void;
};

export const SIGNAL_EXIT: Readonly<Record<Leaving, number>> = { SIGTERM: 143, SIGHUP: 129 };

/** Takes the signals over until the returned function gives them back. */
export function listenForSignals({ onInterrupt, onSecondInterrupt, onLeave }: SignalHandlers): () => void {
  let interrupts = 0;
  const interrupt = (): void => {
    interrupts++;
    if (interrupts === 1) onInterrupt();
    else onSecondInterrupt();
  };
  const leave = (signal: NodeJS.Signals): void => onLeave(signal === 'SIGHUP' ? 'SIGHUP' : 'SIGTERM');
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', leave);
  process.on('SIGHUP', leave);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', leave);
    process.off('SIGHUP', leave);
  };
}
