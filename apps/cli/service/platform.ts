import type { ServiceKind } from '#contract';
import type { Definition, Named } from './definition.js';

/** Where this user's files are. */
export type Place = {
  home: string;
  uid: number;
  configHome: string;
  /** The folder of cmo's config file. */
  config: string;
};

/** A program to run, in the words of a shell's argv. `mayFail`: what it undoes may not be there. */
export type Step = { run: readonly string[]; mayFail?: true };

/** One way to have a box run something at its start. Pure: texts and commands come out, others write and run them. */
export type Platform = {
  kind: ServiceKind;
  file(place: Place): string;
  mode: number;
  text(definition: Definition): string;
  /** Null: a file that is not ours, or that says nothing of what it starts. */
  read(text: string): Named | null;
  /** After the file was written. `changed`: it is another than before. */
  installSteps(place: Place, changed: boolean): readonly Step[];
  /** Before it is removed, and after. */
  uninstallSteps(place: Place): { before: readonly Step[]; after: readonly Step[] };
};
