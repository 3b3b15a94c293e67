import { readFile } from "node:fs/promises";
import { type Profiler, Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import type { WorkflowHandle } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

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

/** How often whoever reads the files in this order comes back to a folder: `workflows/sale/` with its steps is one. */
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

/**
 * The sources of the bundle's own files of which more ran than their top level: each is a function there, named for its
 * path.
 */
function filesInBundle(coverage: readonly Profiler.ScriptCoverage[], codePath: string, code: string): Set<string> {
  const files = new Set<string>();
  const bundle = coverage.filter(({ url }) => url.endsWith(codePath)).flatMap(({ functions }) => functions);
  const called = bundle.filter(wasCalled).flatMap(({ functionName, ranges: [whole] }) => {
    // An export that is read is not run. A bundle that was not made small has webpack's comments.
    const text = whole && code.slice(whole.startOffset, whole.endOffset).replaceAll(/\/\*.*?\*\/|[\s()]/g, "");
    const isExport = text !== undefined && /^=>\w+$/.test(text);
    return whole && (!isExport || functionName.startsWith("./")) ? [{ functionName, whole }] : [];
  });
  for (const { functionName: file, whole: top } of called) {
    const isOurs = /^\.\/(dist\/)?(workflows|src)\//.test(file);
    const inside = called.filter(({ whole }) => whole.startOffset > top.startOffset && whole.endOffset < top.endOffset);
    if (isOurs && inside.length > 0) files.add(file.replace(/^\.\/(dist\/)?/, "").replace(/\.js$/, ".ts"));
  }
  return files;
}
