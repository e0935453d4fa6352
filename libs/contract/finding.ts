export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Something that a report found in the receipts, most urgent first. */
export type Finding = {
  /** Stable, with what it is about: `dark-meter:claude:reauth`. */
  code: string;
  severity: Severity;
  finding: string;
  /** What to do about it. */
  action: string;
  /** What the sentences say, for programs. */
  numbers: number[];
};
