import type { ControlData, Drain, Pause, SlotSetting } from '#contract';
import type { Paint } from './paint.js';
import { durationText, momentText } from './time-text.js';

/** What persons have said, a line each; none when nothing is in the way. */
export function controlLines({ pauses, drains, slots }: ControlData, paint: Paint, now: number): string[] {
  return [
    ...pauses.map((pause) => `${paint.yellow('paused')}   ${pauseText(pause, now)}`),
    ...drains.map((drain) => `${paint.yellow('drained')}  ${drainText(drain, now)}`),
    ...slots.map((setting) => `slots    ${settingText(setting)}, set by hand`),
  ];
}

function pauseText({ lane, reason, since, until }: Pause, now: number): string {
  const what = lane === null ? 'every lane' : `lane ${lane}`;
  const end = until === null ? `\`cmo resume ${lane ?? '--all'}\`` : momentText(new Date(until).toISOString(), now);
  return `${what}, until ${end}: ${reason} (for ${durationText(now - since)})`;
}

function drainText({ node, reason, since }: Drain, now: number): string {
  return `${node} starts nothing until \`cmo resume --all\`: ${reason} (for ${durationText(now - since)})`;
}

export function settingText({ of, name, atOnce }: SlotSetting): string {
  const what = of === 'dark' ? 'each account while its meter is dark' : `${of} ${name}`;
  return `${what}: ${atOnce} at once`;
}
