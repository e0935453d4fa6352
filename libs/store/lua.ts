import record from './lua/record.lua';

/** The part that every script which changes a record includes. */
export const recordLua: string = record;
