import type { Job } from "../workflows.ts";

export type WorkClass = "interactive" | "background";

/** Where a lane's work is waiting, and those who do it. */
export interface Engine {
  /** Work that never ends: so many jobs are waiting or being done at any time. */
  backlog(jobs: readonly Job[], workClass: WorkClass): Promise<void>;
  /** One job, now. */
  job(job: Job, workClass: WorkClass): Promise<void>;
  /** Takes away all that still waits. */
  end(): Promise<void>;
}
