import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import Table from "cli-table3";

import { BOUNDARIES } from "./plan/kill-plan.ts";
import { OPERATIONS } from "./plan/disturbances.ts";
import { creditNotesTwice, documentsTwice } from "./reckoning/documents.ts";
import type { Evidence } from "./reckoning/evidence.ts";
import { documentsKeptWrongly, ledgerFindings, movementsKeptWrongly } from "./reckoning/ledger.ts";
import { countUnknownMovements, movementsTwice } from "./reckoning/movements.ts";
import { isRace, salesLost } from "./reckoning/workflows.ts";

export type Figures = Record<string, number | string | Record<string, number>>;

/** The figures of a run: what was done to the product, and what came of it. */
export function figuresOf(evidence: Evidence, seed: number): Figures {
  const { storm, books, chronicles, ledger } = evidence;
  const kills = storm.kills;
  const atCalls = Object.fromEntries(
    OPERATIONS.flatMap((operation) =>
      BOUNDARIES.map((at): [string, number] => [
        `${operation} ${at}`,
        kills.filter((kill) => kill.kill === "worker-at-call" && kill.operation === operation && kill.at === at).length,
      ]),
    ),
  );
  const causes = chronicles.flatMap(({ taskFailures }) => taskFailures);
  const { randomFaults } = storm;
  return {
    seed,
    seconds: Math.round(storm.tookMs / 1000),
    sales: storm.sales.size,
    "sales by end": countBy([...storm.sales.values()], ({ ends }) => ends),
    "credit notes": books.documents.filter(({ type }) => type === "credit_note").length,
    "outcomes told to callers": storm.callers.outcomes.size,
    "states told to callers": storm.callers.states,
    "histories replayed": evidence.replays.replayed,
    "API calls": Object.values(books.calls.byOperation).reduce((sum, count) => sum + count, 0),
    "faults by kind": books.faults.byKind,
    "faults of callbacks": {
      forged: randomFaults?.forged.length ?? 0,
      early: randomFaults?.early ?? 0,
      doubled: randomFaults?.doubled ?? 0,
    },
    "storms of 429": randomFaults?.storms ?? 0,
    "key refused": randomFaults?.keysRefused ?? 0,
    kills: countBy(kills, ({ kill }) => kill),
    "kills at calls": atCalls,
    "workers frozen": storm.freezes,
    "buttons pressed": { ...storm.buttons?.pressed },
    "workflows that were touched by a button": storm.buttons?.touched.size ?? 0,
    "runs that were carried on by a restart": storm.buttons?.restarted.length ?? 0,
    "movements that a person completed by hand": storm.buttons?.decidedByHand.size ?? 0,
    "kills that did not strike": storm.killsLeft,
    "processes that ended by themselves": evidence.endedByThemselves.length,
    "documents twice": documentsTwice(evidence).length,
    "credit notes twice": creditNotesTwice(evidence).length,
    "movements twice": movementsTwice(evidence).length,
    "sales lost": salesLost(evidence).length,
    "movements unknown": countUnknownMovements(evidence),
    "in the ledger": {
      documents: ledger.documents.filter(({ documentId }) => documentId !== null).length,
      "movements applied": ledger.movements.filter(({ state }) => state === "applied").length,
      events: ledger.chains.reduce((sum, { events }) => sum + events, 0),
      differences: [documentsKeptWrongly, movementsKeptWrongly, ledgerFindings].flatMap((find) => find(evidence))
        .length,
    },
    "parked by reason": countBy(storm.attentions, ({ code }) => code),
    "workflow tasks that a worker took and did not answer": chronicles.reduce(
      (sum, { tasksLost }) => sum + tasksLost,
      0,
    ),
    "workflow tasks failed by races": causes.filter(isRace).length,
    "workflow tasks failed otherwise": causes.filter((cause) => !isRace(cause)).length,
  };
}

export async function tell(figures: Figures, path: string): Promise<void> {
  const table = new Table({ style: { head: [], border: [] } });
  for (const [name, value] of Object.entries(figures)) {
    const shown = typeof value === "object" ? Object.entries(value).map(([key, count]) => `${key}: ${count}`) : [value];
    table.push([name, shown.join("\n")]);
  }
  process.stderr.write(`${table.toString()}\n`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(figures, null, 2)}\n`);
}

function countBy<T>(entries: readonly T[], nameOf: (entry: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of entries) counts[nameOf(entry)] = (counts[nameOf(entry)] ?? 0) + 1;
  return counts;
}
