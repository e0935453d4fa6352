/** A window as a person calls it, from its id: `five_hour` is the 5-hour one, `weekly:opus` the weekly of opus. */
export function windowWord(id: string): string {
  const [base = id, scope] = id.split(':');
  const name = base === 'five_hour' ? '5-hour' : base;
  return scope === undefined ? name : `${name} of ${scope}`;
}
