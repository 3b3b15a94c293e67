import type { AppliedMovement, DecidedApplied, MovementOutcome } from "../../contract/index.ts";
import { decide, ended, knownOf, readOrBury, readRow, settle, take, verifyClaims } from "../claims/at-most-once.ts";
import type { Database, Queries } from "../database.ts";
import { businessColumns } from "../events/row.ts";
import { balanceAround } from "./balance-around.ts";
import { holdBranch, isHeld, isLookedAt, lookedAt, openHold, openHolds } from "./branch-holds.ts";
import type { ClaimEvent, MovementKey, NotTaken, StockClaims, TakeRequest } from "./claims.ts";
import { close } from "./close.ts";
import { disputeOf, disputes } from "./disputes.ts";
import { isSameMovement, movementClaim, movementColumns, movementOf, MOVEMENTS, originColumns } from "./movement.ts";
import { taken } from "./taken.ts";

/** Each operation is one statement or one transaction, and may run again after a broken connection. */
export function createStockClaims(database: Database): StockClaims {
  return {
    take: (request) => takeMovement(database, request),
    ended: (request) => ended(database, movementClaim(request), request),
    async settle(request) {
      const outcome = keptOutcome(request.outcome);
      const otherBranch = outcome.kind === "applied" ? outcome.otherBranch : undefined;
      const hold = otherBranch && ((db: Queries) => holdBranch(db, request, otherBranch));
      return await settle(database, movementClaim(request), { ...request, outcome }, hold);
    },
    readOrBury: (request) => readOrBury(database, movementClaim(request), request),
    read: (key) =>
      database.query(async (db) => {
        const claim = movementClaim(key);
        const row = await readRow(db, claim);
        return row === undefined ? { kind: "none" } : knownOf(claim, row);
      }),
    taken: (request) => database.query((db) => taken(db, request)),
    close: (request) => database.transact((db) => close(db, request)),
    async decide({ applied, word, contradicts, movement, ...request }) {
      const decision = { ...word, applied, ...(contradicts && { contradicts }) };
      const decided = { ...request, isDone: applied, decision, call: movementColumns(movement) };
      return await decide(database, movementClaim(request), decided);
    },
    balanceAround: (key) => database.transact((db) => balanceAround(db, key)),
    branchHold: (connection, sentAs) => database.query((db) => openHold(db, connection, sentAs)),
    openBranchHolds: () => database.query(openHolds),
    acknowledgeBranch: (key, other, word) => database.transact((db) => lookedAt(db, key, other, word)),
    isBranchAcknowledged: (key, other) => database.query((db) => isLookedAt(db, key, other)),
    disputeOf: (key) => database.query((db) => disputeOf(db, key)),
    disputes: (days) => database.query((db) => disputes(db, days)),
    async verify(business) {
      const owner = businessColumns(business);
      const { rows: movements, ...found } = await verifyClaims(database, owner, MOVEMENTS, owner);
      return { movements, ...found };
    },
    history: (key) => database.query((db) => history(db, key)),
  };
}

async function takeMovement(database: Database, request: TakeRequest): ReturnType<StockClaims["take"]> {
  const { connection, branchSentAs, movement, of } = request;
  return await take<AppliedMovement | DecidedApplied, NotTaken>(database, movementClaim(request), request, {
    call: { ...originColumns(of), ...movementColumns(movement) },
    differs(row) {
      const claimed = movementOf(row);
      if (!claimed || isSameMovement(claimed, movement)) return undefined;
      return { kind: "different", claimed, state: row.state === "held" ? "held" : "applied" };
    },
    hold:
      branchSentAs === undefined
        ? undefined
        : {
            isHeld: isHeld(connection, branchSentAs),
            async answer(db) {
              const hold = await openHold(db, connection, branchSentAs);
              return hold && { kind: "branch-held", hold };
            },
          },
  });
}

/** What the service answered, without what an activity adds for its workflow. */
function keptOutcome(outcome: MovementOutcome): MovementOutcome {
  if (outcome.kind !== "applied") return outcome;
  const { unsettled: _unsettled, ...answered } = outcome;
  return answered;
}

async function history(db: Queries, key: MovementKey): Promise<ClaimEvent[]> {
  const { subject, kind: prefix } = movementClaim(key);
  const rows = await db
    .selectFrom("events")
    .select(["at", "kind", "content"])
    .where((eb) => eb.and({ ...businessColumns(key), subject }))
    .orderBy("number")
    .execute();
  return rows.map(({ at, kind, content }) => ({
    atMs: at.getTime(),
    what: kind.slice(prefix.length),
    ...(JSON.parse(content) as Pick<ClaimEvent, "generation" | "change" | "detail">),
  }));
}
