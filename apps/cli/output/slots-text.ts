import type { Config, ControlData, SlotKind } from '#contract';
import { settingText } from './control-text.js';

/** Every number that counts, and whose word it is: a setting by hand, or else this box's configuration. */
export function slotLines({ slots }: Pick<ControlData, 'slots'>, config: Config): string[] {
  const { lanes, accounts, nodeId } = config;
  const configured: [SlotKind, string, number][] = [
    ...[...new Set(lanes.map(({ account }) => account))].map((account): [SlotKind, string, number] => [
      'account',
      account,
      accounts.find(({ id }) => id === account)?.slots ?? config.slots.account,
    ]),
    ...lanes.flatMap((lane): [SlotKind, string, number][] =>
      lane.slots === null ? [] : [['lane', lane.id, lane.slots]],
    ),
    ['node', nodeId, config.slots.node],
    ['dark', '', config.slots.dark],
  ];
  return [
    ...slots.map((setting) => `slots    ${settingText(setting)}, set by hand`),
    ...configured
      .filter(([of, name]) => !slots.some((setting) => setting.of === of && setting.name === name))
      .map(([of, name, atOnce]) => `slots    ${settingText({ of, name, atOnce })}, by the configuration`),
  ];
}
