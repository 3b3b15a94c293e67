import {
  type Branch,
  type CallTarget,
  ITEM_OUTCOMES,
  type ItemOutcomeKind,
  type RegistrationProgress,
} from "../../src/contract/index.ts";
import type { Job } from "../job/job.ts";
import type { Calls } from "../proxies.ts";

/** What every step of a registration needs, and what it has come to so far. */
export class Batch {
  readonly job: Job<RegistrationProgress>;
  readonly calls: Calls["background"];
  readonly target: CallTarget;
  readonly batchId: string;
  readonly force: boolean;
  branch: Branch | undefined;
  /** A person has said that what the API refuses as malformed is to be passed over. */
  passesOver: boolean;

  constructor(batch: Pick<Batch, "job" | "calls" | "target" | "batchId" | "force" | "branch" | "passesOver">) {
    this.job = batch.job;
    this.calls = batch.calls;
    this.target = batch.target;
    this.batchId = batch.batchId;
    this.force = batch.force;
    this.branch = batch.branch;
    this.passesOver = batch.passesOver;
  }

  /** @param total how many items the batch is about, once that is known */
  count(settled: Partial<Record<ItemOutcomeKind, number>>, total: number | null = this.job.progress.total): void {
    const counts = { ...this.job.progress.counts };
    for (const kind of ITEM_OUTCOMES) counts[kind] += settled[kind] ?? 0;
    this.job.moveOn(this.job.waitingFor, { counts, total });
  }
}
