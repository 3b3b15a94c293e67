/**
 * The jobs that mirror a list of a service in the ledger: supplier invoices, and bill payments. Rows are kept by the
 * activity that reads a page, and what is made of them is in `src/ledger/books/`.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/job`, `workflows/sdk`.
 */
import { condition } from "@temporalio/workflow";

import type {
  BegunSync,
  CompleteSyncRequest,
  KeptPageResult,
  PageRequest,
  Pass,
  Refusal,
  Sync,
  SyncProgress,
} from "../../src/contract/index.ts";
import { callWithEscalation, isRefusal } from "../calls/between-tries.ts";
import { Job, registerJobMessages } from "../job/job.ts";
import { ledger } from "../proxies.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";
import {
  afterPage,
  completionOf,
  isDueAgain,
  type Lists,
  type Position,
  restarted,
  sweep,
  wholeSince,
  whyEndless,
  withPage,
} from "./position.ts";

/** To be made before the first await. */
export function syncJob(workflow: string, noun: string, progress: SyncProgress): Job<SyncProgress> {
  const describe = (made: SyncProgress): string[] => progressLines(made, noun);
  const job = new Job({ workflow, noun: "The synchronisation", progress, describe });
  registerJobMessages(job);
  return job;
}

export const NOTHING_READ: SyncProgress = { kind: "recent", round: 0, pages: 0, rows: 0, added: 0, changed: 0 };

const KINDS = {
  recent: "Reads what changed last, until known ground",
  full: "Reads the whole list",
  window: "Reads all from a day on",
} as const;

function progressLines({ kind, round, pages, rows, added, changed, leftOut }: SyncProgress, noun: string): string[] {
  const again = round > 1 ? `, for the ${round}. time: some rows were not seen, or moved while they were read` : "";
  const counts = `${pages} pages with ${rows} ${noun} read; ${added} were new, ${changed} had changed`;
  if (!leftOut) return [`${KINDS[kind]}${again}`, counts];
  const why = "because they do not have the documented form: `fiscalflow doctor` names the field";
  return [`${KINDS[kind]}${again}`, counts, `${leftOut} rows were left out ${why}`];
}

/** All in which the synchronisation of one collection differs from that of another. */
export interface Mirrored {
  job: Job<SyncProgress>;
  sync: Sync;
  lists: Lists;
  nameOf: (position: Position, pass: Pass) => string;
  read: (summary: string, request: PageRequest) => Promise<KeptPageResult | Refusal>;
  /** The dialect's entry without which a list has no end. */
  cursorSetting: string;
  /** What is to be read once the lists are, by what the ledger knows. */
  rest: (position: Position) => Promise<Pass[]>;
}

export function beginning({ lists, sync }: Mirrored, { startedAtMs, knownUntilMs, leftOut = {} }: BegunSync): Position {
  const start = { passes: [], restarts: 0, startedAtMs, sweeps: 0, sweptFromMs: [], totals: {}, leftOut };
  if (sync.kind === "full") return sweep({ ...start, reads: "whole" }, lists);
  if (sync.kind === "window") return { ...start, reads: "rest", passes: lists.whole };
  return { ...start, reads: "latest", passes: lists.latest(knownUntilMs) };
}

/**
 * A full one reads the whole list, then what has changed meanwhile; and all of that again while it is not known that
 * everything was seen. Rows go into the ledger by the activity that reads them and never through the history
 * (docs/decisions/0011).
 */
export async function synchronise(
  work: Mirrored,
  start: Position,
  { beforePage, goOnAnew }: { beforePage?: (position: Position) => void; goOnAnew: (at: Position) => Promise<never> },
): Promise<CompleteSyncRequest> {
  const { job, sync, lists } = work;
  let position = start;
  for (;;) {
    job.progress = { ...job.progress, round: position.sweeps };
    while (position.passes.length > 0) {
      beforePage?.(position);
      position = await readPage(work, position);
      if (!job.dueBetweenPages) continue;
      await condition(everyUpdateIsAnswered);
      await goOnAnew(position);
    }
    if (position.reads === "whole") {
      position = { ...position, reads: "latest", passes: lists.latest(position.knownUntilMs) };
      continue;
    }
    if (position.reads === "latest") {
      position = { ...position, reads: "rest", passes: await work.rest(position) };
      continue;
    }
    job.moveOn("the comparison of what was read");
    const wholeSinceMs = await wholeSince(position, sync.kind, (sinceMs) =>
      ledger.countSync("Count what was seen", { ...sync, sinceMs }),
    );
    if (isDueAgain(position, sync.kind, wholeSinceMs)) {
      position = sweep(position, lists);
      continue;
    }
    job.moveOn("the count of what the ledger holds");
    return { ...sync, ...completionOf(position, sync.kind, wholeSinceMs), withStatuses: lists.whole.length > 1 };
  }
}

/** Begins a pass anew so often without an operator, if the service does not take its own cursor back. */
const MOST_RESTARTS = 3;

async function readPage(work: Mirrored, position: Position): Promise<Position> {
  const { job } = work;
  const { cursor, passes, restarts, sweeps } = position;
  const [pass = {}] = passes;
  const what = work.nameOf(position, pass);
  job.moveOn(what);
  let pagesRead = position.pagesRead;
  let isCursorDead = false;
  const page = await callWithEscalation(job, async () => {
    // An operator has retried it since: that cursor would be refused again.
    if (isCursorDead) return { kind: "cursor-refused" as const };
    const result = await work.read(`Read ${what}`, { ...pass, cursor });
    if (isRefusal(result)) {
      const isCursorRefused = result.attention === "invalid-request" && cursor !== undefined;
      if (isCursorRefused && restarts < MOST_RESTARTS) return { kind: "cursor-refused" as const };
      isCursorDead = isCursorRefused;
      return result;
    }
    pagesRead = withPage(pagesRead, `${position.reads} ${sweeps} ${restarts} ${passes.length}`, result);
    const endless = result.nextCursor === null ? undefined : whyEndless(pagesRead);
    if (endless === undefined) return result;
    // A retry reads on, for as many pages as before.
    pagesRead = undefined;
    const total = result.total === undefined ? "" : `; its \`total\` is ${result.total}`;
    return isEndless(`${endless}: ${what} was the last that was read${total}. Look at ${work.cursorSetting}`);
  });
  if (page.kind === "cursor-refused") return restarted(position, isCursorDead ? 0 : restarts + 1);
  countPage(job, page, position.reads === "latest" && sweeps > 0);
  return { ...afterPage(position, page), pagesRead };
}

function isEndless(what: string): Refusal {
  return { kind: "refused", attention: "unexpected-answer", message: `${what}; a retry reads on.` };
}

/** If the sweep has read the page already, it has the same rows left out. */
function countPage(job: Job<SyncProgress>, page: KeptPageResult, isReadAgain: boolean): void {
  const { progress } = job;
  const leftOut = (progress.leftOut ?? 0) + (isReadAgain ? 0 : (page.leftOut ?? 0));
  job.progress = {
    ...progress,
    pages: progress.pages + 1,
    rows: progress.rows + page.rows,
    added: progress.added + page.added,
    changed: progress.changed + page.changed,
    ...(leftOut > 0 && { leftOut }),
  };
}
