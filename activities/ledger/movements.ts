import { Context } from "@temporalio/activity";

import {
  type AppliedMovement,
  type LedgerActivities,
  type MovementReference,
  type SaidApplied,
  type SupersededTry,
  TAKEN_A_PAGE,
} from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { stillWaiting } from "../failure.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import { lastBalance, laterBalance } from "./balance-evidence.ts";
import { claimedMovement, holderOf, ledgerOutcome, toMovementResult } from "./beside-calls.ts";

export interface LedgerContext {
  ledger: Ledger;
  /** Unix milliseconds. */
  nowMs: () => number;
  random: () => number;
}

/** How often an unknown movement is looked at: nothing but the database is asked. */
const WATCH = { firstPollMs: 2_000, longestPollMs: 600_000, longestPollAfterDayMs: 3_600_000 };

type MovementActivities = Pick<
  LedgerActivities,
  | "awaitLedger"
  | "readMovement"
  | "readTaken"
  | "watchMovement"
  | "decideMovement"
  | "settleMovement"
  | "acknowledgeBranch"
>;

export function createMovementActivities(context: LedgerContext): MovementActivities {
  const { ledger, nowMs, random } = context;

  return {
    awaitLedger: () => ledger.answers(),

    readMovement: async (request) => {
      const { generation, previous } = request;
      const found = await ledger.stock.readOrBury({ ...keyOf(request), generation, previous, nowMs: nowMs() });
      if (found.kind === "never-sent") return { kind: "superseded", generation };
      if (found.kind === "not-applied") return { kind: "superseded", generation: found.generation };
      if (found.kind === "settled") return toMovementResult(found);
      const result = toMovementResult(found);
      const balance = lastBalance(await ledger.stock.balanceAround(keyOf(request)));
      return { ...result, evidence: { ...result.evidence, ...balance } };
    },

    readTaken: async (request) => {
      const { after = "", ...query } = request;
      const taken = await ledger.stock.taken({ ...query, businessId: request.businessId });
      const page = taken
        .filter(({ referenceId }) => referenceId > after)
        .toSorted((one, other) => (one.referenceId < other.referenceId ? -1 : 1))
        .slice(0, TAKEN_A_PAGE);
      return page.map(({ held, ...movement }) => {
        if (!held) return movement;
        const { message, evidence } = toMovementResult(held);
        const { generation, takenAtMs } = held;
        return { ...movement, unknown: { generation, sentAtMs: takenAtMs, message, evidence } };
      });
    },

    watchMovement: async (request) => {
      const known = await outcomeOf(ledger, request);
      if (known) return known;
      if (!request.balanceShown) {
        const evidence = laterBalance(await ledger.stock.balanceAround(keyOf(request)), request.movement);
        if (evidence) return { kind: "balance", evidence };
      }
      throw stillWaiting("Nothing more is known.", pollPauseMs(ageMs(request.sinceMs), WATCH, random));
    },

    decideMovement: async (request) => {
      const { generation, applied, word, movement } = request;
      const answer = await ledger.stock.decide({
        ...keyOf(request),
        generation,
        applied,
        note: word.note,
        ...(word.by !== undefined && { by: word.by }),
        nowMs: word.atMs,
        movement: claimedMovement(movement),
        holder: holderOf(Context.current().info),
      });
      const known = answer === "decided" ? undefined : await outcomeOf(ledger, request);
      return known ?? { kind: applied ? "said-applied" : "said-not-applied" };
    },

    settleMovement: async (request) => {
      const { generation, token, outcome } = request;
      await ledger.stock.settle({ ...keyOf(request), generation, token, outcome: ledgerOutcome(outcome) });
    },

    acknowledgeBranch: (request) => ledger.stock.acknowledgeBranch(keyOf(request), request.otherBranch, request.word),
  };
}

/**
 * The outcome, where the service's answer or a person's word is written down; undefined while the movement is unknown.
 */
async function outcomeOf(
  ledger: Ledger,
  request: MovementReference,
): Promise<AppliedMovement | SaidApplied | SupersededTry | undefined> {
  const found = await ledger.stock.read(keyOf(request));
  if (found.kind === "settled") return toMovementResult(found);
  return found.kind === "not-applied" ? toMovementResult({ ...found, kind: "behind" }) : undefined;
}

function keyOf({ connection, businessId, referenceId }: Omit<MovementReference, "generation">) {
  return { connection, businessId, referenceId };
}
