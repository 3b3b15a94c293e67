import { condition } from "@temporalio/workflow";

import type { KeptPageResult, SyncProgress } from "../../src/contract/index.ts";
import { Job, registerJobMessages } from "../job/job.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";

/** To be made before the first await. @param describe what it reads, and its counts by {@link countsOf} */
export function syncJob<Progress extends SyncProgress>(
  workflow: string,
  progress: Progress,
  describe: (progress: Progress) => string[],
): Job<Progress> {
  const job = new Job({ workflow, noun: "The synchronisation", progress, describe });
  registerJobMessages(job);
  return job;
}

/** @param name of the rows: `purchases` */
export function countsOf({ pages, rows, added, changed, leftOut }: SyncProgress, name: string): string[] {
  const counts = `${pages} pages with ${rows} ${name} read; ${added} were new, ${changed} had changed`;
  if (!leftOut) return [counts];
  const why = "because they do not have the documented form: `fiscalflow doctor` names the field";
  return [counts, `${leftOut} rows were left out ${why}`];
}

/** Adds a page to what has been read so far. */
export function countPage<Progress extends SyncProgress>(job: Job<Progress>, page: KeptPageResult): void {
  const { progress } = job;
  const leftOut = (progress.leftOut ?? 0) + (page.leftOut ?? 0);
  job.progress = {
    ...progress,
    pages: progress.pages + 1,
    rows: progress.rows + page.rows,
    added: progress.added + page.added,
    changed: progress.changed + page.changed,
    ...(leftOut > 0 && { leftOut }),
  };
}

/**
 * Reads on, from one position to the next, until all is read, in as many runs as that takes.
 * @param goOnAnew as a new run, which goes on at a position
 * @param complete ends it, and counts what the ledger holds
 */
export async function synchronise<Progress extends SyncProgress, Position, Held>(
  job: Job<Progress>,
  {
    start,
    isThrough,
    step,
    goOnAnew,
    complete,
  }: {
    start: Position;
    isThrough: (position: Position) => boolean;
    step: (position: Position) => Promise<Position>;
    goOnAnew: (position: Position) => Promise<never>;
    complete: (position: Position) => Promise<Held>;
  },
): Promise<Progress & Held> {
  let position = start;
  while (!isThrough(position)) {
    position = await step(position);
    if (isThrough(position) || !job.dueBetweenPages) continue;
    await condition(everyUpdateIsAnswered);
    await goOnAnew(position);
  }
  job.moveOn("the count of what the ledger holds");
  const held = await complete(position);
  job.moveOn("nothing");
  return { ...job.progress, ...held };
}
