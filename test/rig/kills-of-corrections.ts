import type { Kill } from "./killing-lines.ts";
import { FULL_SIZE } from "./patience.ts";

export interface CorrectionKill extends Kill {
  /** Completes "a correction whose worker is killed". */
  what: string;
  /** The sale's number: each kill has a correction of its own. */
  name: string;
  /** Of the sale that is corrected. `0`: it is closed, and is started again to be credited. */
  refundWindow: "0" | "1 hour";
}

type Step = Pick<Kill, "to"> & {
  what: string;
  how: readonly Kill["how"][];
  window?: CorrectionKill["refundWindow"];
  is: (text: string, name: string, idOf: (number: string) => string | undefined) => boolean;
};

const LOST = ["lost"] as const;
const BOTH = ["lost", "arrived"] as const;
const EACH = ["lost", "committed"] as const;

/** In the order of a correction. */
const STEPS: readonly Step[] = [
  {
    what: "as the credit note's row is opened",
    to: "ledger",
    how: EACH,
    is: (text, name) => text.includes('insert into "documents"') && text.includes(`CN-${name}`),
  },
  {
    what: "as it reserves the corrected sale's number",
    to: "ledger",
    how: EACH,
    is: (text, name) => text.includes('insert into "documents"') && text.includes(`${name}-NEW`),
  },
  {
    what: "as the credit note is claimed",
    to: "ledger",
    how: BOTH,
    is: (text, name) => text.includes('update documents as d set "intent"') && text.includes(`CN-${name}`),
  },
  {
    what: "as the credit note is issued",
    to: "api",
    how: BOTH,
    is: (text, name) => text.includes(`"traderInvoiceNumber":"CN-${name}"`),
  },
  {
    what: "as the credit note is looked at",
    to: "api",
    how: LOST,
    is: (text, name, idOf) => isRead(text, idOf(`CN-${name}`)),
  },
  {
    what: "as the goods' return is claimed",
    to: "ledger",
    how: BOTH,
    is: (text, name) => text.includes('"movements"') && text.includes(`CN-${name}/`),
  },
  {
    what: "as the goods are returned",
    to: "api",
    how: BOTH,
    is: (text, name) => text.includes(`"referenceId":"CN-${name}/`),
  },
  {
    what: "as it starts the corrected sale",
    to: "temporal",
    how: BOTH,
    is: (text, name) => text.includes(`sale/default/biz_1/${name}-NEW`) && text.includes("corrects"),
  },
  {
    what: "as the corrected sale is issued",
    to: "api",
    how: BOTH,
    window: "0",
    is: (text, name) => text.includes(`"traderInvoiceNumber":"${name}-NEW"`),
  },
  {
    what: "as the corrected sale takes its goods",
    to: "api",
    how: BOTH,
    is: (text, name) => text.includes(`"referenceId":"${name}-NEW/`),
  },
  {
    what: "as the corrected sale is looked at",
    to: "api",
    how: LOST,
    is: (text, name, idOf) => isRead(text, idOf(`${name}-NEW`)),
  },
  {
    what: "as its end is written down",
    to: "ledger",
    how: EACH,
    is: (text, name) => text.includes("correction-ended") && text.includes(name),
  },
  {
    what: "as it ends",
    to: "temporal",
    how: BOTH,
    window: "0",
    is: (text, name) => text.includes('"stage":"corrected"') && text.includes(`CN-${name}`),
  },
];

/**
 * A kill at each step of a correction. A word that gets nowhere leaves nearly what the step before left behind: of a
 * step with two ends the full size alone has both.
 * @param idOf the document's id at the service, once it has one
 */
export function killsOfCorrections(idOf: (number: string) => string | undefined): CorrectionKill[] {
  const kills: CorrectionKill[] = [];
  for (const { what, to, how, window, is } of STEPS)
    for (const one of FULL_SIZE ? how : how.slice(-1)) {
      // Of two digits each: no number is part of another.
      const name = `KILL-${10 + kills.length}`;
      const refundWindow = window ?? (kills.length % 2 === 0 ? "0" : "1 hour");
      kills.push({
        what: `${what}, ${WORDS[one]}`,
        name,
        refundWindow,
        to,
        how: one,
        is: (text) => is(text, name, idOf),
      });
    }
  return kills;
}

const WORDS: Record<Kill["how"], string> = {
  lost: "which gets nowhere",
  arrived: "which arrives",
  committed: "which is kept",
};

function isRead(text: string, id: string | undefined): boolean {
  return id !== undefined && text.startsWith("GET ") && text.includes(id);
}
