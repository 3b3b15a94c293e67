import { getEventListeners } from "node:events";
import { tsToMs } from "@temporalio/common/lib/time.js";
import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli } from "../../src/cli/test-support/call-cli.ts";
import {
  LONGEST_EVENT_WAIT_SECONDS,
  type LedgerEvent,
  readEventsWorkflowId,
  STATE_QUERY,
} from "../../src/contract/index.ts";
import { CursorLostError, InvalidInputError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

describeWithTemporal("the events of a business", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { start, result } = salesOf(() => rig);

  async function all(after?: string): Promise<LedgerEvent[]> {
    const events: LedgerEvent[] = [];
    for await (const event of rig.starter.events({ ...(after !== undefined && { after }) })) events.push(event);
    return events;
  }

  /** The run that waits for the next event, once a worker has it. */
  async function waitAfter(known: LedgerEvent[]) {
    const workflowId = readEventsWorkflowId({ ...BUSINESS, after: known.at(-1)?.cursor, waits: true });
    let last = "";
    const isUnderWay = async (): Promise<boolean> => {
      const { runId, raw } = await rig.client.workflow.getHandle(workflowId).describe();
      last = runId;
      return (raw.pendingActivities ?? []).some(({ lastStartedTime }) => lastStartedTime !== null);
    };
    await expect.poll(isUnderWay).toBe(true);
    return rig.client.workflow.getHandle(workflowId, last);
  }

  test("are none before the first sale, and then have the end of each document, without a gap", async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on("warning", hear);
    for (const _again of [1, 2]) expect(await all()).toEqual([]);
    await expect
      .poll(() => warnings)
      .toMatchObject([
        { name: "FiscalflowWarning", message: expect.stringContaining('connection "default" and business "biz_1"') },
      ]);
    process.off("warning", hear);
    for (const number of ["E-1", "E-2"]) {
      await start(number);
      await result(number);
    }
    const events = await all();
    expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => index + 1));
    for (const number of ["E-1", "E-2"]) {
      const last = events.filter(({ subject }) => subject === `sale ${number}`).at(-1);
      expect(last).toMatchObject({
        version: 1,
        connection: "default",
        businessId: "biz_1",
        kind: "document-saved",
        document: { number, stage: "completed", status: "completed", total: 700, receipt: { receiptLabel: "NS" } },
      });
    }
    const [first] = events;
    expect(await all(first?.cursor)).toEqual(events.slice(1));
  });

  test("are received as they occur, also while workers are replaced", async () => {
    const before = (await all()).at(-1)?.cursor ?? "";
    const stop = new AbortController();
    const seen: LedgerEvent[] = [];
    const following = (async () => {
      for await (const event of rig.starter.events({ after: before, follow: true, signal: stop.signal })) {
        seen.push(event);
        if (event.document?.number === "E-4" && event.document.stage === "completed") stop.abort();
      }
    })();
    await start("E-3");
    await result("E-3");
    const known = await all(before);
    await expect.poll(() => seen).toEqual(known);
    const waiting = await waitAfter(known);
    const state = { workflow: "readEvents", attentions: [], decisions: [] };
    const asking = { ...state, waitingFor: "the ledger", progress: { answered: false } };
    expect(await waiting.query(STATE_QUERY)).toEqual(asking);
    await rig.stopWorkers();
    await rig.startWorkers();
    expect(await waiting.result()).toEqual({ events: [] });
    expect(await waiting.query(STATE_QUERY)).toEqual({ ...state, waitingFor: "nothing", progress: { answered: true } });
    const events = (await waiting.fetchHistory()).events ?? [];
    const started = events.find(({ activityTaskStartedEventAttributes: it }) => it);
    const ended = events.find(({ activityTaskCompletedEventAttributes: it }) => it);
    expect(tsToMs(ended?.eventTime) - tsToMs(started?.eventTime)).toBeLessThan(LONGEST_EVENT_WAIT_SECONDS * 1000);
    await start("E-4");
    await result("E-4");
    await following;
    const after = await all(before);
    expect(seen).toEqual(after.slice(0, seen.length));
  });

  test("end at once when they are aborted, and leave nothing behind", async () => {
    const known = await all();
    const stop = new AbortController();
    const seen: LedgerEvent[] = [];
    const following = (async () => {
      for await (const event of rig.starter.events({ follow: true, signal: stop.signal })) seen.push(event);
    })();
    await expect.poll(() => seen).toEqual(known);
    await waitAfter(known);
    const abortedAtMs = Date.now();
    stop.abort();
    await following;
    // The wait itself takes ten seconds.
    expect(Date.now() - abortedAtMs).toBeLessThan(5_000);
    await expect.poll(() => getEventListeners(stop.signal, "abort")).toEqual([]);
    expect(seen).toEqual(known);
  });

  test("with a cursor that is not the ledger's are refused", async () => {
    await expect(all(`7-${"0".repeat(16)}`)).rejects.toThrow(CursorLostError);
    await expect(all("7")).rejects.toThrow(InvalidInputError);
  });

  test("of a connection that no worker has are refused, and the error names those that there are", async () => {
    const reading = rig.starter.events({ connection: "defualt", businessId: "biz_1", follow: true });
    await expect(reading.next()).rejects.toThrow(
      'connection: expected a configured connection ("default"), found "defualt"',
    );
  });

  test("are printed by `fiscalflow events`, one line of JSON each, after a cursor", async () => {
    const events = await all();
    const env = {
      COMPLIANCE_BASE_URL: rig.simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      LEDGER_URL: rig.config.ledger.url?.reveal() ?? "",
    };
    const printed = await callCli(["events", "--json", "--after", events[0]?.cursor ?? ""], { env });
    expect(printed).toMatchObject({ exitCode: 0, stderr: "" });
    const lines = printed.stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(events.slice(1));
    const text = await callCli(["events"], { env });
    expect(text.stdout).toMatch(/^\d+-[0-9a-f]{16} {2}.* {2}document-saved {2}sale E-1 {2}/m);
    const lost = await callCli(["events", "--after", `7-${"0".repeat(16)}`], { env });
    expect(lost).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("ledger verify") });
  });
});
