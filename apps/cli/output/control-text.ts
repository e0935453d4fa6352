import type { ControlData, SlotSetting } from '#contract';
import type { Paint } from './paint.js';
import { durationText, momentText } from './time-text.js';

/** What persons have said, a line each; none when nothing is in the way. */
export function controlLines({ pauses, drains, slots }: ControlData, paint: Paint, now: number): string[] {
  return [
    ...pauses.map(
      ({ lane, reason, since, until }) =>
        `${paint.yellow('paused')}   ${lane === null ? 'every lane' : `lane ${lane}`}, ${until === null ? `until \`cmo resume ${lane ?? '--all'}\`` : `until ${momentText(new Date(until).toISOString(), now)}`}: ${reason} (for ${durationText(now - since)})`,
    ),
    ...drains.map(
      ({ node, reason, since }) =>
        `${paint.yellow('drained')}  ${node} starts nothing until \`cmo resume --all\`: ${reason} (for ${durationText(now - since)})`,
    ),
    ...slots.map((setting) => `slots    ${settingText(setting)}, set by hand`),
  ];
}

export function settingText({ of, name, atOnce }: SlotSetting): string {
  return `${of === 'dark' ? 'each account while its meter is dark' : `${of} ${name}`}: ${atOnce} at once`;
}
