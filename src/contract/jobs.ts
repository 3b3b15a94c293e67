import type { Attention, Decision } from "./attention.ts";
import type { ServiceTrouble } from "./service-trouble.ts";

/**
 * Workflows that carry no document of their own: what they did is in the ledger, and how far they are in their state.
 */

/** Answer of the `state` query of such a workflow. */
export interface JobState<Progress> {
  workflow: string;
  /** In words: what happens next, and when. */
  waitingFor: string;
  progress: Progress;
  attentions: Attention[];
  decisions: Decision[];
  /** What is wrong with a service, as a call of this run that is deferred has met it. */
  serviceTrouble?: ServiceTrouble;
  /** Signals that changed nothing: they could not be read, or the workflow has none of their name. Absent: none. */
  unreadMessages?: number;
}
