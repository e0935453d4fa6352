/** `0.3s`, `18s`, `3m 12s`, `2h 05m`, `3d 4h`. */
export function durationText(ms: number): string {
  if (ms > 0 && ms < 9_950) return `${Number((ms / 1000).toFixed(1))}s`;
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h ${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/**
 * A moment as a person reads it: local clock and how far off, `14:05 (in 2h 10m)`; with its day when it is not today's.
 */
export function momentText(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const far = at >= now ? `in ${durationText(at - now)}` : `${durationText(now - at)} ago`;
  return `${clockText(at, now)} (${far})`;
}

const MOMENTS = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A sentence that was written for a record, with its moments (ISO, UTC) by the clock on the wall. */
export function byTheClock(text: string, now: number): string {
  return text.replace(MOMENTS, (iso) => momentText(iso, now));
}

export function clockText(at: number, now: number): string {
  const date = new Date(at);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return dayText(date) === dayText(new Date(now)) ? clock : `${dayText(date)} ${clock}`;
}

function dayText(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function secondText(at: number, now: number): string {
  return `${clockText(at, now)}:${two(new Date(at).getSeconds())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
