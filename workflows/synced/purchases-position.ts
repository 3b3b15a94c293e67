import type { PagesRead } from "./endless-list.ts";
import type { PurchasesPage, PurchasesPass, PurchasesSyncKind, PurchasesWindow } from "../../src/contract/index.ts";

/**
 * The steps of a synchronisation, in their order:
 *
 * recent: pull → list, until known ground → pulled → pending_review → changed → complete
 * full: pull → list → pulled → pending_review → (where a row was not seen: list again) → complete
 * window: pull → list, from its first day on → complete
 */
export type Step = "pull" | PurchasesPass | "complete";

/** Where a synchronisation is: all that another run needs to go on. */
export interface Position {
  step: Step;
  /** Of the next page of the pass; absent at its beginning. */
  cursor?: string;
  /** In `changed`: the days that are still to be read, the present ones first. Absent until they are known. */
  windows?: PurchasesWindow[];
  /** Rows in a row, up to here in the list, that an earlier synchronisation has listed. */
  knownInARow: number;
  /** How often the list has been read from its beginning. */
  sweeps: number;
  /** How often a pass began anew because its cursor was refused. */
  restarts: number;
  /** A row had no id that can be read: nothing that was not seen is known to have vanished. */
  unidentified?: true;
  /** Of the page before in the pass; absent at its beginning. */
  fingerprint?: string | undefined;
  /** Of the pass that is read. */
  pagesRead?: PagesRead | undefined;
}

export const BEGINNING: Position = { step: "pull", knownInARow: 0, sweeps: 0, restarts: 0 };

/**
 * So many known rows in a row are known ground. More than one page has, since an invoice that reaches the list late
 * stands among older ones.
 */
export const OVERLAP = 200;

/** Rows can move between pages while a full synchronisation reads; what it missed is looked for so often. */
const MOST_SWEEPS = 3;

/** Where it goes on after a page. */
export function afterPage(before: Position, kind: PurchasesSyncKind, page: PurchasesPage): Position {
  const { rows, knownAtEnd, nextCursor, fingerprint } = page;
  const position: Position = page.unidentified ? { ...before, unidentified: true } : before;
  const knownInARow = knownAtEnd === rows ? position.knownInARow + rows : knownAtEnd;
  const onKnownGround = kind === "recent" && position.step === "list" && knownInARow >= OVERLAP;
  if (nextCursor !== null && !onKnownGround) return { ...position, knownInARow, cursor: nextCursor, fingerprint };
  if (position.step === "changed") return atWindows(position, position.windows?.slice(1) ?? []);
  return begin(position, nextStep(position.step, kind));
}

/** Goes on with these days. */
export function atWindows(position: Position, windows: PurchasesWindow[]): Position {
  return windows.length > 0 ? { ...begin(position, "changed"), windows } : begin(position, "complete");
}

/** The pass from its beginning, since a cursor need not be good for ever. */
export function restarted({ cursor: _cursor, fingerprint: _fingerprint, ...position }: Position): Position {
  return { ...position, knownInARow: 0, restarts: position.restarts + 1 };
}

export function afterPull(position: Position): Position {
  return begin(position, "list");
}

/**
 * Once every pass is through.
 * @param unseen rows of the ledger that no page has shown: moved while they were read, or gone
 */
export function afterPasses(position: Position, unseen: number): Position {
  return unseen > 0 && position.sweeps < MOST_SWEEPS ? begin(position, "list") : position;
}

function begin(
  { cursor: _cursor, windows: _windows, fingerprint: _fingerprint, ...position }: Position,
  step: Step,
): Position {
  const sweeps = position.sweeps + (step === "list" ? 1 : 0);
  return { ...position, step, sweeps, knownInARow: 0 };
}

function nextStep(step: Step, kind: PurchasesSyncKind): Step {
  if (step === "list") return kind === "window" ? "complete" : "pulled";
  if (step === "pulled") return "pending_review";
  return kind === "recent" ? "changed" : "complete";
}
