import {
  type AppliedMovement,
  type AskedMovement,
  type Branch,
  type PersonsWord,
  setApplied,
  type StockMovement,
} from "../../src/contract/index.ts";
import { ClaimedTries } from "../calls/claimed-tries.ts";
import { Tries } from "../calls/tries.ts";
import { ledger } from "../proxies.ts";
import type { Work } from "../sale/state.ts";
import { parkOnBranch, showOtherBranch } from "./other-branch.ts";
import type { Lane } from "./send-movement.ts";
import { fateOfUnknown } from "./unknown-movement.ts";

/**
 * Brings one movement to `applied` or `dropped`. It is sent at most once without an answer: an unknown outcome waits for a
 * person's word and is never repeated by itself (architecture, decision 6; failure model, POST stock adjustment).
 * @param lane of the run's movements: each try goes by it
 */
export async function applyMovement(work: Work, movement: StockMovement, lane: Lane, branch?: Branch): Promise<void> {
  const { run } = work;
  const settled = { ...work.target, referenceId: movement.referenceId };
  const givenUp = (): boolean => run.stockHalted && movement.purpose === "sold";
  const claims = new ClaimedTries();
  const tries = new Tries(run);
  const begin = (): void => {
    // Still refused, as far as anybody needs to know, while the key is looked at again.
    if (!tries.refusalStands) movement.state = "sending";
    movement.sentAtMs = Date.now();
  };
  for (;;) {
    const sent = await lane.send({ movement, asked: askedOf(movement, claims, branch), givenUp, begin });
    if (!sent) {
      tries.notRefused();
      drop(work, movement);
      return;
    }
    const result =
      sent.kind === "unknown" ? await fateOfUnknown(work, movement, claims.generation, branch, sent) : sent;
    if (result.kind !== "not-applied" && result.kind !== "deferred") tries.notRefused();
    switch (result.kind) {
      case "applied":
        settle(work, movement, result);
        // The run ends only once the outcome is in its claim.
        if (result.unsettled)
          run.beforeTheEnd(ledger.settleMovement({ ...settled, ...claims.current, outcome: result }));
        return;
      case "said-applied":
        movement.state = "applied";
        keepWord(work, movement, result.word, true);
        run.stockMoved();
        return;
      case "superseded":
        if (result.word) keepWord(work, movement, result.word, false);
        claims.after(result.generation);
        break;
      case "deferred":
        movement.state = "planned";
        run.stockMoved();
        if (!result.sameTry) claims.next();
        await tries.deferred(result, givenUp);
        break;
      case "branch-held": {
        movement.state = "refused";
        run.stockMoved();
        const verdict = await parkOnBranch(work, movement, result, givenUp);
        if (verdict === "acknowledged") {
          drop(work, movement);
          return;
        }
        // While a changed dialect is rolled out, the worker that waits may see no hold where the one that sends still does.
        if (verdict === "woken") {
          movement.state = "planned";
          run.stockMoved();
          await tries.deferred({}, givenUp);
        }
        break;
      }
      case "not-applied": {
        movement.state = "refused";
        claims.next();
        const { refusal } = result;
        const code = refusal.attention === "credentials" ? refusal.attention : "stock-refused";
        const message = `${movement.action} ${movement.quantity} of ${movement.itemId}: ${refusal.message}`;
        const about = { code, subject: movement.referenceId, message, until: givenUp } as const;
        const verdict = await tries.refusedAbout(refusal, about);
        if (verdict === "acknowledged" && code === "stock-refused") {
          drop(work, movement);
          return;
        }
      }
    }
  }
}

function askedOf(movement: StockMovement, { claim }: ClaimedTries, branch: Branch | undefined): AskedMovement {
  const { referenceId, itemId, action, quantity, unitPrice } = movement;
  return { referenceId, itemId, action, quantity, unitPrice, ...(branch && { branch }), claim };
}

function drop({ run }: Work, movement: StockMovement): void {
  movement.state = "dropped";
  run.stockMoved();
}

function settle(work: Work, movement: StockMovement, result: AppliedMovement): void {
  setApplied(movement, result);
  if (result.recorded) work.run.records?.keptBeside();
  const { stockIo = "ok", stockMaster = "ok" } = result.report ?? {};
  work.run.stockMoved();
  if (result.otherBranch) showOtherBranch(work, movement, result.otherBranch);
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
