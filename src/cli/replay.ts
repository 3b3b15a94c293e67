import { WORKFLOW_TYPES } from "../contract/index.ts";
import { type ReplayedRun, replayRuns } from "../worker/replay-runs.ts";
import { withTemporal } from "./connect-temporal.ts";
import { type CliContext, CommandFailedError } from "./context.ts";
import type { ResultFlags } from "./options.ts";
import { counted, printNote, printResult } from "./output.ts";
import { allOf, runsOfQuery, ofTypes, RUNNING } from "./sale/visibility-query.ts";
import { type Column, printList } from "./tables.ts";

export interface ReplayFlags extends ResultFlags {
  query?: string;
  limit: number;
}

const TELL_EVERY_MS = 2_000;

const COLUMNS: readonly Column<ReplayedRun>[] = [
  { head: "WORKFLOW", of: "workflowId" },
  { head: "RUN", of: "runId" },
  { head: "WHY", of: "reason" },
];

/** Whether this build can carry on what is open. @throws CommandFailedError where a run differs */
export async function replay(context: CliContext, { query, limit, json }: ReplayFlags): Promise<void> {
  await withTemporal(
    context,
    async ({ client }) => {
      const clauses = [ofTypes(Object.values(WORKFLOW_TYPES)), query === undefined ? RUNNING : `(${query})`];
      const runs: { workflowId: string; runId: string }[] = [];
      for await (const run of runsOfQuery(client, allOf(clauses))) if (runs.push(run) > limit) break;
      const asked = runs.slice(0, limit);
      printNote(context, `Replaying ${counted(asked.length, "run")} on this build.`);
      const rows: ReplayedRun[] = [];
      let replayed = 0;
      let toldAtMs = Date.now();
      for await (const run of replayRuns(client, asked)) {
        replayed++;
        if (run.reason !== undefined) rows.push(run);
        if (Date.now() - toldAtMs < TELL_EVERY_MS) continue;
        toldAtMs = Date.now();
        printNote(context, `${replayed} of ${asked.length} replayed, ${rows.length} differ.`);
      }
      const can = rows.length === 0 ? "can carry on all of them" : `cannot carry on ${rows.length} of them`;
      const verdict = `${counted(replayed, "run")} replayed: this build ${can}.`;
      if (json !== true && rows.length === 0) printResult(context, false, rows, verdict);
      else printList(context, json, { rows, columns: COLUMNS, remarks: [verdict], more: undefined });
      if (runs.length > limit) printNote(context, "There are more than these: --limit replays more, the latest first.");
      if (rows.length > 0) throw new CommandFailedError("");
    },
    "namespace",
  );
}
