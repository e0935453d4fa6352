import { expect, test } from 'vitest';
import { steadyClock } from '#worker/steady-clock';

test('a wall clock that is set forward or back changes nothing for what is being measured', () => {
  let [wall, running] = [1_000_000, 50];
  const clock = steadyClock(
    () => wall,
    () => running,
  );
  expect(clock()).toBe(1_000_000);
  running += 30;
  expect(clock()).toBe(1_000_030);
  wall += 7_200_000;
  expect(clock()).toBe(1_000_030);
  running += 5;
  wall -= 9_000_000;
  expect(clock()).toBe(1_000_035);
});
