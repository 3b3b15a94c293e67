/**
 * What the background jobs share: their state, their messages, how one goes on as a new run. What each job does is in
 * its own folder.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/operator`, `workflows/sdk`.
 */
import { condition, defineQuery, isCancellation, setCurrentDetails, setHandler } from "@temporalio/workflow";

import { type JobState, NO_BUSINESS, STATE_QUERY } from "../../src/contract/index.ts";
import { LeftToNextRun } from "../calls/between-tries.ts";
import { type Allowed, AttentionList } from "../operator/attention-list.ts";
import {
  COMMON_UPDATES,
  detailsPage,
  publishAttributes,
  quoted,
  registerUpdates,
  troubleText,
  unreadText,
  type UpdateTable,
} from "../operator/updates.ts";
import { asFailure, isFinal } from "../proxies.ts";
import { everyUpdateIsAnswered, onUnreadSignals, stepsTaken, unreadSignals } from "../sdk/interceptors.ts";

/**
 * From so many steps on, a job continues as new between two pages. Steps are counted, since the history's length also
 * counts refused updates, which a replay does not see (decision 15).
 */
const STEPS_BETWEEN_PAGES = 20;

interface About<Progress> {
  workflow: string;
  /** In a few words: `The synchronisation`. */
  noun: string;
  progress: Progress;
  /** What people see of the progress, a line each. */
  describe: (progress: Progress) => string[];
}

/** All that a run without a document knows. `Progress` is what its state, its details and its result tell. */
export class Job<Progress extends object> extends AttentionList {
  readonly #about: About<Progress>;
  businessId: string | undefined;
  progress: Progress;

  constructor(about: About<Progress>) {
    super();
    this.#about = about;
    this.progress = about.progress;
  }

  get dueBetweenPages(): boolean {
    return stepsTaken() >= STEPS_BETWEEN_PAGES;
  }

  /** Temporal's own cancellation ends it between two calls; there is nothing to undo. */
  get cancelDue(): boolean {
    return false;
  }

  get allowed(): Allowed {
    const updates = new Set(this.attentions.flatMap(({ resolvedBy }) => resolvedBy));
    const needs = this.attentions.map(({ code }) => code).join(", ");
    const stands = `${this.#about.noun} ${needs ? `needs an operator for ${needs}` : "needs nobody"}`;
    return { stands, updates: [...updates] };
  }

  state(): JobState<Progress> {
    const { waitingFor, progress, attentions, decisions, serviceTrouble } = this;
    const known = { workflow: this.#about.workflow, waitingFor, progress, attentions, decisions, serviceTrouble };
    return { ...known, ...(unreadSignals() > 0 && { unreadMessages: unreadSignals() }) };
  }

  moveOn(waitingFor: string, change: Partial<Progress> = {}): void {
    this.waitingFor = waitingFor;
    this.progress = { ...this.progress, ...change };
    this.publish();
  }

  publish(): void {
    const { attentions, waitingFor, businessId } = this;
    const lines = this.#about.describe(this.progress).map((line) => `- ${line}`);
    const waits = `**Waits for:** ${quoted(waitingFor)}`;
    const trouble = troubleText(this.serviceTrouble);
    setCurrentDetails(detailsPage(attentions, [waits, trouble, lines.join("\n"), unreadText(unreadSignals())]));
    publishAttributes({ business: businessId ?? NO_BUSINESS, attention: attentions[0]?.code ?? null });
  }
}

const stateQuery = defineQuery<JobState<object>>(STATE_QUERY);

/** To be called before the first await: an early message finds its handler. */
export function registerJobMessages<J extends AttentionList & { state(): JobState<object> }>(
  job: J,
  updates: UpdateTable<J> = COMMON_UPDATES,
): void {
  setHandler(stateQuery, () => job.state(), { description: "How far it is, and what an operator is needed for." });
  registerUpdates(job, updates);
  onUnreadSignals(() => job.publish());
}

/** Ends once every update has its answer. */
export async function runJobToCompletion<Result>(body: () => Promise<Result>): Promise<Result> {
  try {
    const result = await body();
    await condition(everyUpdateIsAnswered);
    return result;
  } catch (error) {
    if (error instanceof Error && isFinal(error) && !isCancellation(error)) throw asFailure(error);
    throw error;
  }
}

/**
 * Makes the calls of a page side by side.
 * @param most so many at once
 * @returns those that are left to the next run, once this one's history is long
 */
export async function sideBySide<One>(
  run: AttentionList,
  page: readonly One[],
  make: (one: One) => Promise<void>,
  most = page.length,
): Promise<One[]> {
  const left: One[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let one = page[next++]; one; one = page[next++]) {
      try {
        await make(one);
      } catch (error) {
        if (!(error instanceof LeftToNextRun)) throw error;
        left.push(one);
      }
    }
  };
  run.handsOverCalls = true;
  await Promise.all(Array.from({ length: Math.min(most, page.length) }, lane));
  run.handsOverCalls = false;
  return left;
}
