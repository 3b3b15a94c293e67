import { expect, test } from "vitest";

import type { ScheduleChange } from "../setup/reconcile-schedules.ts";
import { schedulesFindings } from "./check-schedules.ts";

const there: ScheduleChange = { id: "one", change: "unchanged" };

test.each<[string, ScheduleChange[], object[]]>([
  ["none is wanted", [], []],
  ["all are there", [there], [{ level: "ok", message: "all 1 are there, and none is paused" }]],
  [
    "one is missing and one paused",
    [there, { id: "two", change: "created" }, { id: "three", change: "unchanged", paused: true }],
    [{ level: "warning", message: "missing: two; paused: three", todo: "run `fiscalflow setup`" }],
  ],
])("doctor says of Schedules that %s", (_, changes, findings) => {
  expect(schedulesFindings(changes)).toMatchObject(findings);
  expect(schedulesFindings(changes)).toHaveLength(findings.length);
});
