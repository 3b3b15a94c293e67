import { expect, it } from "vitest";

import type { DemoTemporal } from "../demo-temporal.ts";
import { colourPaint, plainPaint } from "../screens.ts";
import { jobTable } from "./job-table.ts";
import type { JobResult } from "./run-jobs.ts";

const temporal: DemoTemporal = {
  connectionOptions: { address: "127.0.0.1:7233" },
  namespace: "default",
  uiUrl: "http://127.0.0.1:8233",
  own: true,
};
const LINK = "http://127.0.0.1:8233/namespaces/default/workflows/register-items%2Fdefault%2Fbiz_demo";
const items: JobResult = {
  job: { workflow: "registerItems", workflowId: "register-items/default/biz_demo" },
  lines: ["2 registered, 1 lacks data", "", "item_leso (Leso): lacks classificationMapping"],
  apiCalls: 3,
  tookMs: 940,
};
const batch: JobResult = {
  job: { workflow: "processSyncBatch", workflowId: "sync-batch/default/batch_1" },
  lines: [],
  problem: "needs an operator: batch-unknown: no answer",
  apiCalls: 1,
  tookMs: 60,
};

it("the job table shows each job's result with its calls, seconds and link, and its notes below", () => {
  const lines = jobTable({ results: [items], temporal, columns: undefined, paint: plainPaint }).split("\n");
  const cells = lines[3]?.split("│").map((cell) => cell.trim());
  expect(cells).toEqual(["", "registerItems", "2 registered, 1 lacks data", "3", "0.9", LINK, ""]);
  expect(lines.slice(5)).toEqual(["", "registerItems:", "  item_leso (Leso): lacks classificationMapping"]);
});

it("the job table shows a job's problem in place of its result", () => {
  const table = jobTable({ results: [batch], temporal, columns: undefined, paint: colourPaint });
  expect(table).toContain(colourPaint("needs an operator: batch-unknown: no answer", "red"));
});

it("the job table puts links below itself on a narrow screen", () => {
  const lines = jobTable({ results: [items, batch], temporal, columns: 90, paint: plainPaint }).split("\n");
  expect(lines.filter((line) => /^[│┌├└]/.test(line) && line.length > 90)).toEqual([]);
  expect(lines).toContain(LINK);
});
