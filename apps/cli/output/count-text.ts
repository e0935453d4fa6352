/** `1 step`, `2 steps`; `many` for a word that takes more than an s. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** `12 dispatches`. */
export function dispatchCount(number: number): string {
  return counted(number, 'dispatch', 'dispatches');
}
