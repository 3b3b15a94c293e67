import { condition } from "@temporalio/workflow";

import type { KeptPageResult, Refusal, SyncProgress } from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/tries.ts";
import { registerJobMessages } from "../job/carry-job.ts";
import { Job } from "../job/job.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";

/** What one collection says of itself to people. */
interface Words<Progress> {
  workflow: string;
  /** `purchases`, `payments`. */
  rows: string;
  reads: (progress: Progress) => string;
  /** What else is to be known. */
  note?: string;
}

/** The job of a synchronisation. To be made before the first await: an early message finds its handler. */
export function syncJob<Progress extends SyncProgress>(progress: Progress, words: Words<Progress>): Job<Progress> {
  const { workflow, rows: name, reads, note } = words;
  const describe = (sofar: Progress): string[] => {
    const { pages, rows, added, changed, leftOut } = sofar;
    return [
      `Reads ${reads(sofar)}`,
      `${pages} pages with ${rows} ${name} read; ${added} were new, ${changed} had changed`,
      ...(leftOut
        ? [
            `${leftOut} rows were left out because they do not have the documented form: \`fiscalflow doctor\` names the field`,
          ]
        : []),
      ...(note === undefined ? [] : [note]),
    ];
  };
  const job = new Job({ workflow, noun: "The synchronisation", progress, describe });
  registerJobMessages(job);
  return job;
}

/** How a collection is read, from one position to the next. */
interface Way<Position, Held> {
  isThrough: (position: Position) => boolean;
  step: (position: Position) => Promise<Position>;
  /** As a new run, which goes on there. */
  goOnAnew: (position: Position) => Promise<never>;
  /** Ends it, and counts what the ledger holds. */
  complete: (position: Position) => Promise<Held>;
}

/** Reads on until all is read, in as many runs as that takes. */
export async function synchronise<Progress extends SyncProgress, Position, Held>(
  job: Job<Progress>,
  start: Position,
  { isThrough, step, goOnAnew, complete }: Way<Position, Held>,
): Promise<Progress & Held> {
  let position = start;
  while (!isThrough(position)) {
    position = await step(position);
    if (isThrough(position) || !job.historyIsLong) continue;
    await condition(everyUpdateIsAnswered);
    await goOnAnew(position);
  }
  job.moveOn("the count of what the ledger holds");
  const held = await complete(position);
  job.moveOn("nothing");
  return { ...job.progress, ...held };
}

/**
 * Reads one page into the ledger, and counts it.
 * @param call may also come to something that is neither a page nor a person's business, which is returned
 */
export async function readPage<Progress extends SyncProgress, Result extends KeptPageResult | { kind: string }>(
  job: Job<Progress>,
  what: string,
  call: () => Promise<Result | Refusal>,
): Promise<Exclude<Result, Refusal>> {
  job.moveOn(what);
  const result = await callWithEscalation(job, call);
  if (isPage(result)) job.progress = withPage(job.progress, result);
  return result;
}

function isPage(result: KeptPageResult | { kind: string }): result is KeptPageResult {
  return result.kind === "page";
}

function withPage<Progress extends SyncProgress>(progress: Progress, page: KeptPageResult): Progress {
  const leftOut = (progress.leftOut ?? 0) + (page.leftOut ?? 0);
  return {
    ...progress,
    pages: progress.pages + 1,
    rows: progress.rows + page.rows,
    added: progress.added + page.added,
    changed: progress.changed + page.changed,
    ...(leftOut > 0 && { leftOut }),
  };
}
