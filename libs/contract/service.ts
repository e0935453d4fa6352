/** What has a box run the daemon from its start on. */
export const SERVICE_KINDS = ['systemd', 'launchd', 'cron'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

/** How a box stands. Of several (two were installed by hand) the first that works. */
export type ServiceState = {
  /** Null: none is installed. */
  kind: ServiceKind | null;
  /** The unit, property list or script. */
  file: string | null;
  /** What it starts; null: the file is not ours. */
  node: string | null;
  program: string | null;
  state: string | null;
  /** With the box, or with the login. Null: it cannot be told. */
  enabled: boolean | null;
  running: boolean | null;
  /**
   * systemd: the user's manager starts with the box and stays after a logout. Null: elsewhere, or it cannot be told.
   */
  linger: boolean | null;
  /** Why work that waits would not go on after a reboot; none: it would. */
  problems: { what: string; fix: string }[];
};

/** `data` of cmo.service/1. */
export type ServiceData = {
  did: 'install' | 'uninstall' | 'status';
  dryRun: boolean;
  /** Afterwards; in a dry run as it is. */
  service: ServiceState;
  /** Written, or removed (`text` null); in a dry run what would be. */
  files: { path: string; text: string | null }[];
  /** That were run, or would be, in this order. */
  commands: string[];
  /** What else a person has to know. */
  notes: string[];
};
