/**
 * What was removed, or would be (`dryRun`), since it is kept no longer. Of this node's files, and of the records of
 * all.
 */
export type GcData = {
  dryRun: boolean;
  node: string;
  records: { removed: number };
  /** Whole months. */
  receipts: { files: string[]; lines: number; bytes: number };
  /** Folders of attempts that were delivered. */
  runs: { removed: number; bytes: number };
  /** Texts that were too large for Redis. */
  blobs: { removed: number; bytes: number };
};
