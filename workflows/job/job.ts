import { setCurrentDetails } from "@temporalio/workflow";

import { type AttentionCode, type JobState, type Mend, NO_BUSINESS } from "../../src/contract/index.ts";
import { Attended } from "../operator/attended.ts";
import { attentionAttribute, businessAttribute, needsAPerson, publishAttributes } from "../operator/shown.ts";
import { stepsTaken } from "../sdk/interceptors.ts";

/** Past so many steps a run goes on as a new one, between two pages. */
const MOST_STEPS = 20;

/** Past so many it does so in the middle of one, where a call that was refused is about to be made anew. A page without that has 50 at most. */
const MOST_STEPS_OF_REFUSED = 200;

/**
 * Whether it is time to go on in a new run. Counted in steps, and not in events: the length of a history grows with what a replay is not
 * shown, a message that is refused (decision 15).
 */
class HistoryLength {
  get isLong(): boolean {
    return stepsTaken() >= MOST_STEPS;
  }

  /** Where a wait is over. */
  get isLongOfRefused(): boolean {
    return stepsTaken() >= MOST_STEPS_OF_REFUSED;
  }
}

/** All that a run without a document knows. `Progress` is what its state, its details and its result tell. */
export class Job<Progress extends object> extends Attended {
  readonly workflow: string;
  /** In a few words: `The synchronisation`. */
  readonly noun: string;
  businessId: string | undefined;
  progress: Progress;
  /** Waits are ended once the history is long: what is left is carried over to a new run. */
  carriesOver = false;
  readonly #history = new HistoryLength();
  #cut = false;
  /** What people see of the progress, a line each. */
  readonly #describe: (progress: Progress) => string[];

  constructor(options: {
    workflow: string;
    noun: string;
    progress: Progress;
    describe: (progress: Progress) => string[];
  }) {
    super();
    this.workflow = options.workflow;
    this.noun = options.noun;
    this.progress = options.progress;
    this.#describe = options.describe;
  }

  /** Temporal's own cancellation ends it between two calls; there is nothing to undo. */
  get cancelDue(): boolean {
    return false;
  }

  /** To be asked between two pages. */
  get historyIsLong(): boolean {
    return this.#history.isLong;
  }

  override get cutShort(): boolean {
    return this.#cut;
  }

  override endsWaits(): boolean {
    this.#cut ||= this.carriesOver && this.#history.isLongOfRefused;
    return this.#cut;
  }

  get standing(): string {
    const mends = new Set(this.attentions.flatMap(({ mendedBy }) => mendedBy));
    const needs = this.attentions.map(({ code }) => code).join(", ");
    return `${this.noun} ${needs ? `needs a person for ${needs}` : "needs nobody"}; allowed updates: ${[...mends].join(", ") || "none"}.`;
  }

  protected override mendsOf(code: AttentionCode): readonly Mend[] {
    return super.mendsOf(code).filter((mend) => mend === "retry" || mend === "acknowledge");
  }

  get lines(): string[] {
    return this.#describe(this.progress);
  }

  state(): JobState<Progress> {
    const { workflow, waitingFor, progress, attentions, decisions } = this;
    return { workflow, waitingFor, progress, attentions, decisions };
  }

  /** @param change of the progress; left out, it stays */
  moveOn(waitingFor: string, change: Partial<Progress> = {}): void {
    this.waitingFor = waitingFor;
    this.progress = { ...this.progress, ...change };
    this.publish();
  }

  publish(): void {
    publishJob(this);
  }
}

/** Shows a job to whoever looks: details always, search attributes where they changed (each change is an event). */
function publishJob(job: Pick<Job<object>, "waitingFor" | "lines" | "attentions" | "businessId">): void {
  const paragraphs = [`**Waits for:** ${job.waitingFor}`, job.lines.map((line) => `- ${line}`).join("\n")];
  setCurrentDetails([...paragraphs, ...job.attentions.map(needsAPerson)].filter(Boolean).join("\n\n"));
  publishAttributes([
    { key: businessAttribute, value: job.businessId ?? NO_BUSINESS },
    { key: attentionAttribute, value: job.attentions[0]?.code ?? null },
  ]);
}
