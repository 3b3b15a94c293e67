import { type LedgerActivities, TAKEN_A_PAGE } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { stillWaiting } from "../failure.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import { laterBalance, withLastBalance } from "./balance-evidence.ts";
import { claimedMovement, currentHolder } from "./beside-calls.ts";

export interface LedgerContext {
  ledger: Ledger;
  /** Unix milliseconds. */
  nowMs: () => number;
  random: () => number;
}

/** How often an unknown movement is looked at: nothing but the database is asked. */
const WATCH = { firstPollMs: 2_000, longestPollMs: 600_000, longestPollAfterDayMs: 3_600_000 };

export function createMovementActivities(context: LedgerContext) {
  const { ledger, nowMs, random } = context;

  return {
    awaitLedger: () => ledger.answers(),

    readMovement: async (request) =>
      withLastBalance(ledger, request, await ledger.stock.readOrBury({ ...request, nowMs: nowMs() })),

    readTaken: async (request) => {
      const { after = "", ...query } = request;
      const taken = await ledger.stock.taken(query);
      return taken
        .filter(({ referenceId }) => referenceId > after)
        .toSorted((one, other) => (one.referenceId < other.referenceId ? -1 : 1))
        .slice(0, TAKEN_A_PAGE);
    },

    watchMovement: async (request) => {
      const known = await ledger.stock.read(request);
      if (known.kind !== "none" && known.kind !== "unknown") return known;
      if (!request.balanceShown) {
        const evidence = laterBalance(await ledger.stock.balanceAround(request), request.movement);
        if (evidence) return { kind: "balance", evidence };
      }
      throw stillWaiting("Nothing more is known.", pollPauseMs(ageMs(request.sinceMs), WATCH, random));
    },

    decideMovement: async (request) => {
      const { movement, applied } = request;
      const holder = currentHolder();
      const known = await ledger.stock.decide({ ...request, movement: claimedMovement(movement), holder });
      if (known === "decided") return applied ? { kind: "said-applied" } : { kind: "said-not-applied" };
      return await withLastBalance(ledger, request, known);
    },

    settleMovement: async (request) => {
      await ledger.stock.settle(request);
    },

    acknowledgeBranch: (request) => ledger.stock.acknowledgeBranch(request, request.otherBranch, request.word),
  } satisfies Partial<LedgerActivities>;
}
