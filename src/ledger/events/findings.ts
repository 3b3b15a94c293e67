/** What a look through a chain found. Numbers are those of events. */
export type ChainFinding =
  /** The events from `from` to `to` are not there. */
  | { kind: "missing"; from: number; to: number }
  /** What stands there is not what was hashed. */
  | { kind: "changed"; number: number; subject: string }
  /** It does not follow the event before it: that one, or this one, was written anew together with its hash. */
  | { kind: "unlinked"; number: number; subject: string }
  /** More events than the head has counted. */
  | { kind: "uncounted"; from: number; to: number }
  /** The last event is not the one that the head names. */
  | { kind: "other-end"; number: number }
  /** There are events, and no head. */
  | { kind: "no-head"; events: number }
  /** An earlier look saw another event at that number, or one that is gone. */
  | { kind: "not-as-seen"; number: number };

export interface ChainReport {
  connection: string;
  /** `-` for none. */
  businessId: string;
  /** Events that were looked at. */
  events: number;
  /** As the head says: to be kept elsewhere, for a later look to be held against. */
  head: { count: number; hash: string } | null;
  findings: ChainFinding[];
  /** Findings beyond those that are listed. */
  moreFindings: number;
}

/** What an earlier look saw of a chain. */
export interface SeenHead {
  connection: string;
  businessId: string;
  count: number;
  hash: string;
}
