// Runs around every test file (vitest.config.ts names it). vitest gives a finished process half a second before it
// kills it: too little for a hundred folders, so what must be undone is undone here, after the file's own hooks.
import { afterAll } from 'vitest';
import { leave } from './on-leave.js';

afterAll(leave);
