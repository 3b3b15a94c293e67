/** What a workflow knows of its connection to the accounting service: names and timings, never a key. */
export interface AccountingProfile {
  connection: string;
  /** One HTTP call, from connecting to the last byte. */
  callTimeoutMs: number;
  /** As of the other service. */
  unservedAfterMs: number;
}

/** Every call names where it goes. */
export interface AccountingTarget {
  connection: string;
}
