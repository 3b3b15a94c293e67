import { readFile } from "node:fs/promises";
import { type Profiler, Session } from "node:inspector/promises";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import type { WorkflowHandle } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { bundleMap } from "../rig/bundle-map.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const ROOT = new URL("../../", import.meta.url);

describeWithTemporal("the path of one sale in docs/architecture.md", () => {
  let rig: Rig;
  const session = new Session();
  beforeAll(async () => {
    rig = await startRig();
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  });
  afterAll(async () => {
    session.disconnect();
    await rig?.close();
  });

  /** Accepted at once, with one movement and a caller who waits. */
  async function sell(traderInvoiceNumber: string): Promise<WorkflowHandle> {
    const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
    const sale = { traderInvoiceNumber, callback: "off", refundWindow: "0", lines } as const;
    const { workflowId } = await rig.starter.startSaleAndWait(sale, { waitSeconds: 20 });
    const handle = rig.client.workflow.getHandle(workflowId);
    await handle.result();
    return handle;
  }

  /** What ran since this was asked last. */
  async function ranSince(): Promise<Profiler.ScriptCoverage[]> {
    return (await session.post("Profiler.takePreciseCoverage")).result;
  }

  /** The files that have run since this was asked last, those of the workflow's last run too. */
  async function filesSince(handle: WorkflowHandle): Promise<Set<string>> {
    const ran = new Set((await ranSince()).filter(({ functions }) => functions.some(wasCalled)).map(fileOf));
    const codePath = inject("workflowBundlePath") ?? "";
    await Worker.runReplayHistory({ workflowBundle: { codePath } }, await handle.fetchHistory(), handle.workflowId);
    const code = await readFile(codePath, "utf8");
    for (const file of filesInBundle(await ranSince(), codePath, code)) ran.add(file);
    return ran;
  }

  /** What a part of the page names. */
  async function namedIn(title: string): Promise<string[]> {
    const page = await readFile(new URL("docs/architecture.md", ROOT), "utf8");
    const [part = ""] = page.split(/^## /m).filter((one) => one.startsWith(title));
    return [...part.matchAll(/^\d+\. `([^`]+\.ts)`/gm)].map(([, file = ""]) => file);
  }

  const stepsOf = (ran: ReadonlySet<string>) => [...ran].filter((file) => /^(workflows|activities)\//.test(file));

  test("names the files that it runs through, and no file of the workflows or the activities is left out", async () => {
    await sell("WARM-UP");
    await ranSince();
    const handle = await sell("FOLLOWED-1");
    const ran = await filesSince(handle);
    const named = await namedIn("The path of one sale");
    expect(named.filter((file) => !ran.has(file))).toEqual([]);
    expect(stepsOf(ran).filter((file) => !named.includes(file))).toEqual([]);
    expect(new Set(named).size).toBe(named.length);
    expect(named.length).toBeLessThanOrEqual(30);
    expect(returnsToARoom(named)).toBeLessThanOrEqual(5);

    const known = new Set([...stepsOf(ran), ...named]);
    const refund = { reason: "06", traderInvoiceNumber: "CN-FOLLOWED-1", restock: true } as const;
    await rig.starter.refund({ invoice: "FOLLOWED-1" }, refund, { waitSeconds: 20 });
    await handle.result();
    const ranLate = await filesSince(handle);
    const more = await namedIn("The path of a late refund");
    expect(more.filter((file) => !ranLate.has(file) || known.has(file))).toEqual([]);
    expect(stepsOf(ranLate).filter((file) => !known.has(file) && !more.includes(file))).toEqual([]);
    expect(more.length).toBeLessThanOrEqual(5);
  });
});

/** How often a reader of the files in this order comes back to a folder: `workflows/sale/` with its steps is one. */
function returnsToARoom(files: readonly string[]): number {
  const rooms = files.map((file) => file.split("/").slice(0, -1).slice(0, 2).join("/"));
  const visits = rooms.filter((room, index) => room !== rooms[index - 1]);
  return visits.length - new Set(visits).size;
}

function wasCalled({ ranges: [whole] }: Profiler.FunctionCoverage): boolean {
  return whole !== undefined && whole.count > 0;
}

function fileOf({ url }: Profiler.ScriptCoverage): string {
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  return path.replace(fileURLToPath(ROOT), "");
}

/** The sources of the bundle's own files of which more ran than their top level, by the bundle's map of lines. */
function filesInBundle(coverage: readonly Profiler.ScriptCoverage[], codePath: string, code: string): Set<string> {
  // Hands the workflows on, and has no function of its own.
  const files = new Set(["workflows/index.ts"]);
  const sourceAt = sourcesIn(code);
  const bundle = coverage.filter(({ url }) => url.endsWith(codePath)).flatMap(({ functions }) => functions);
  for (const {
    ranges: [whole],
  } of bundle.filter(wasCalled)) {
    if (whole === undefined) continue;
    const text = code.slice(whole.startOffset, whole.endOffset).replaceAll(/[\s()]/g, "");
    // An export that is read is not run. A file is a function too.
    if (/^=>\w+$/.test(text) || /^(\w+(,\w+)*)?=>\{"usestrict";/.test(text)) continue;
    const file = sourceAt(whole.startOffset);
    if (/^(workflows|src)\//.test(file)) files.add(file);
  }
  return files;
}

/** @returns the file of the sources that a place in the bundle comes from */
function sourcesIn(code: string): (offset: number) => string {
  const map = new SourceMap(bundleMap(code));
  return (offset) => {
    const entry = map.findEntry(code.slice(0, offset).split("\n").length - 1, 0);
    return "originalSource" in entry ? entry.originalSource.replace(/^\.\//, "") : "";
  };
}
