import { plainLine } from "../../../contract/plain-text.ts";
import { workflowLink } from "../../../cli/temporal-ui.ts";
import type { DemoTemporal } from "../demo-temporal.ts";
import { type Cell, renderTable, widthOf } from "../render-table.ts";
import type { Paint } from "../screens.ts";
import type { JobResult } from "./run-jobs.ts";

interface Results {
  readonly results: readonly JobResult[];
  readonly temporal: DemoTemporal;
  /** Of the screen; undefined: as wide as it takes. */
  readonly columns: number | undefined;
  readonly paint: Paint;
}

const HEAD = ["workflow", "what came of it", "API calls", "seconds"];

/** What has come of each job: its first line in the table, what else it has to say below. */
export function jobTable({ results, temporal, columns, paint }: Results): string {
  const rows = results.map((result) => rowOf(result, paint));
  const places = results.map(({ job }) => workflowLink(temporal, job.workflowId) ?? job.workflowId);
  const placeHead = temporal.uiUrl === undefined ? "workflow id" : "in Temporal's UI";
  const wide = renderTable(
    [...HEAD, placeHead],
    rows.map((row, index) => [...row, places[index] ?? ""]),
  );
  const fits = columns === undefined || widthOf(wide) <= columns;
  const parts = fits ? [wide] : [renderTable(HEAD, rows), "", ...places];
  return [...parts, ...results.flatMap(notesOf)].join("\n");
}

function rowOf({ job, lines, problem, apiCalls, tookMs }: JobResult, paint: Paint): Cell[] {
  const [first = ""] = lines;
  const came = problem === undefined ? first : { text: problem, paint: (text: string) => paint(text, "red") };
  return [job.workflow, came, String(apiCalls), (tookMs / 1_000).toFixed(1)];
}

function notesOf({ job, lines }: JobResult): string[] {
  const notes = lines.slice(1).filter((line) => line !== "");
  return notes.length === 0 ? [] : ["", `${job.workflow}:`, ...notes.map((line) => `  ${plainLine(line)}`)];
}
