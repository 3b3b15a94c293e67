import { condition, sleep } from "@temporalio/workflow";

import type { AppliedMovement, Branch, PersonsWord, Refusal, StockMovement } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { evidenceOf, keyPauseMs } from "../run/answered.ts";
import { growingPauseMs } from "../run/growing-pause.ts";
import { park } from "../run/park.ts";
import { untilLedger } from "../run/until-ledger.ts";
import { recordLater } from "./record-later.ts";
import { MovementTries } from "./movement-tries.ts";
import { sendMovement } from "./send-movement.ts";
import { fateOfUnknown } from "./unknown-movement.ts";

/**
 * Brings one movement to `applied` or `dropped`. It is sent at most once without an answer: an unknown outcome waits for a
 * person's word and is never repeated by itself (architecture, decision 6; failure model, POST stock adjustment).
 */
export async function applyMovement(work: Work, movement: StockMovement, branch?: Branch): Promise<void> {
  const { run } = work;
  const givenUp = (): boolean => run.stockHalted && movement.purpose === "sold";
  const tries = new MovementTries();
  let refusedKeys = 0;
  for (let deferrals = 0; ;) {
    if (givenUp()) {
      drop(work, movement);
      return;
    }
    movement.state = "sending";
    movement.sentAtMs = Date.now();
    run.stockMoved();
    const sent = await sendMovement(work, movement, tries, branch);
    const result = sent.kind === "unknown" ? await fateOfUnknown(work, movement, tries.generation, branch, sent) : sent;
    switch (result.kind) {
      case "applied":
        settle(work, movement, result);
        if (result.unsettled) recordLater(work, movement, tries.current, result);
        return;
      case "said-applied":
        movement.state = "applied";
        keepWord(work, movement, result.word, true);
        run.stockMoved();
        return;
      case "superseded":
        if (result.word) keepWord(work, movement, result.word, false);
        tries.after(result.generation);
        break;
      case "deferred":
        movement.state = "planned";
        run.stockMoved();
        if (!result.sameTry) tries.next();
        if (result.waitFor === "ledger") await untilLedger(givenUp);
        else await condition(givenUp, result.retryAfterMs ?? growingPauseMs(deferrals++));
        break;
      case "not-applied": {
        movement.state = "refused";
        tries.next();
        if (result.refusal.attention === "credentials") {
          const pauseMs = keyPauseMs(refusedKeys++);
          await parkRefused(work, movement, result.refusal, "credentials", givenUp, pauseMs);
        } else if ((await parkRefused(work, movement, result.refusal, "stock-refused", givenUp)) === "acknowledged") {
          drop(work, movement);
          return;
        }
      }
    }
  }
}

function drop({ run }: Work, movement: StockMovement): void {
  movement.state = "dropped";
  run.stockMoved();
}

function settle(work: Work, movement: StockMovement, result: AppliedMovement): void {
  movement.state = "applied";
  movement.movementId = result.movementId;
  movement.sentAtMs = result.sentAtMs;
  if (result.branchId !== undefined) movement.branchId = result.branchId;
  if (result.quantityOnHand !== undefined) movement.quantityOnHand = result.quantityOnHand;
  const { stockIo = "ok", stockMaster = "ok" } = result.report ?? {};
  work.run.stockMoved();
  if (stockIo === "ok" && stockMaster === "ok") return;
  movement.report = { stockIo, stockMaster };
  const message = `The movement ${result.movementId} was made, but its report says stockIo ${stockIo}, stockMaster ${stockMaster}.`;
  work.run.raise({ code: "stock-unreported", subject: movement.referenceId, message, evidence: { ...movement } });
}

/** What a person said in an earlier run is taken over; what was said in this one is there already. */
function keepWord({ run }: Work, movement: StockMovement, word: PersonsWord, applied: boolean): void {
  const { note, by, atMs } = word;
  const known = run.decisions.some((one) => one.subject === movement.referenceId && one.atMs === atMs);
  const who = { note, ...(by !== undefined && { by }), atMs };
  movement.decision = { applied, ...who };
  if (known) return;
  const answer = applied ? "applied" : "not applied";
  run.decisions.push({ update: "resolveStock", code: "stock-unknown", subject: movement.referenceId, answer, ...who });
}

async function parkRefused(
  work: Work,
  movement: StockMovement,
  refusal: Refusal,
  code: "stock-refused" | "credentials",
  until: () => boolean,
  pauseMs?: number,
) {
  const message = `${movement.action} ${movement.quantity} of ${movement.itemId}: ${refusal.message}`;
  const attention = { code, subject: movement.referenceId, message, ...evidenceOf(refusal) };
  return await park(work.run, attention, {
    until,
    ...(pauseMs !== undefined && { wake: () => sleep(pauseMs).then(() => true) }),
  });
}
