import type { LimitsData } from '#contract';
import { OLD_FILE_MS, stateWord, viewsOf, type AccountView } from './limits-view.js';
import type { Paint } from './paint.js';
import { shortNumber } from './percent-text.js';
import { durationText } from './time-text.js';
import { windowName } from './window-text.js';

/** One line for a shell prompt or a status bar: the binding window of each account, the dark meter first. */
export function limitsLine(data: LimitsData, paint: Paint, now: number): string {
  const age = now - Date.parse(data.writtenAt);
  const parts = viewsOf(data, now).map((view) => accountPart(view, data.pressure, paint, now));
  if (age > OLD_FILE_MS) parts.push(`as of ${durationText(age)} ago`);
  return parts.join(' | ');
}

function accountPart(view: AccountView, pressure: LimitsData['pressure'], paint: Paint, now: number): string {
  const { meter, band, facts, age, windows, trouble } = view;
  const state = stateWord(view, pressure, paint);
  const binding = windows.find(({ scope }) => scope === null);
  const opens = band === 'exhausted' ? (facts.nextResetAt ?? null) : (binding?.resetsAt ?? null);
  const ahead = opens === null ? '' : ` ${durationText(Date.parse(opens) - now)}`;
  if (band === 'unknown' || band === 'missing' || binding === undefined) {
    const why = trouble && meter.dark ? ` (${meter.dark.reason})` : '';
    return `${meter.account} ${state}${band === 'exhausted' ? ahead : why}`;
  }
  const used = `${shortNumber(binding.effective)}% ${windowName(binding)}`;
  const full = windows
    .filter(({ scope, effective }) => scope !== null && effective >= pressure.critical)
    .map(({ scope, effective }) => `, ${scope ?? ''} ${shortNumber(effective)}%`);
  const old = trouble ? ` (${durationText(age.ageMs ?? 0)} old)` : '';
  return `${meter.account} ${used} ${state}${ahead}${full.join('')}${old}`;
}
