import {
  Client,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from "@temporalio/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import {
  createStarter,
  ERROR_CODES,
  FiscalflowError,
  isFiscalflowError,
  type ClientError,
  type ErrorCode,
  type OpenAttention,
  type ResolveDocumentRequest,
  type ResolveStockRequest,
  type Starter,
} from "../../src/starter/index.ts";
import { type CuttableLine, startCuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

type Interceptor = NonNullable<ConnectionOptions["interceptors"]>[number];

describeWithTemporal("the client package of another service", () => {
  let rig: Rig;
  let line: CuttableLine;
  let connection: Connection;
  let starter: Starter;
  /** Cuts the line once such bytes go to Temporal, before they get there or after. */
  let cutOn: { text: string; when: "before" | "after" } | undefined;
  const calls: string[] = [];
  beforeAll(async () => {
    rig = await startRig();
    const [host = "", port] = rig.address.split(":");
    line = await startCuttableLine({ host, port: Number(port) }, (bytes) => {
      if (!cutOn || !bytes.includes(cutOn.text)) return;
      const { when } = cutOn;
      cutOn = undefined;
      if (when === "before") line.cut();
      else setTimeout(() => line.cut(), 300);
    });
    connection = await Connection.connect({
      address: `127.0.0.1:${line.port}`,
      interceptors: [
        (options, next) => {
          calls.push(options.method_definition.path.replace(/.*\//, ""));
          return next(options) as ReturnType<Interceptor>;
        },
        makeGrpcRetryInterceptor(defaultGrpcRetryOptions()),
      ],
      channelArgs: { "grpc.max_reconnect_backoff_ms": 1_000 },
    });
    const client = new Client({ connection, namespace: rig.namespace });
    starter = createStarter({ client, businesses: { default: "biz_1" }, identity: "till-1" });
  });
  afterAll(async () => {
    await connection?.close();
    await line?.close();
    await rig?.close();
  });
  afterEach(() => line.restore());

  const { result } = salesOf(() => rig);
  const sale = (traderInvoiceNumber: string) => ({ traderInvoiceNumber, lines: [TEA], refundWindow: "0" });

  /** The code of the error that it ends with, and after how long (seconds). */
  async function failing(work: Promise<unknown>): Promise<{ code: string; seconds: number; message: string }> {
    const startedAtMs = Date.now();
    const error = await work.then(
      () => new Error("it did not fail"),
      (reason: unknown) => reason,
    );
    if (!(error instanceof FiscalflowError)) throw error;
    return { code: error.code, seconds: (Date.now() - startedAtMs) / 1000, message: error.message };
  }

  test("starts a new sale and receives its outcome in one round trip", async () => {
    calls.length = 0;
    const { result: how, outcome } = await starter.startSaleAndWait(sale("ONE-TRIP"));
    expect({ how, stage: outcome.stage, calls }).toEqual({
      how: "started",
      stage: "completed",
      calls: ["ExecuteMultiOperation"],
    });
    expect(rig.simulator.documents("ONE-TRIP")).toHaveLength(1);
  });

  test("receives the stage reached from the workflow when its wait is over", async () => {
    rig.simulator.setAuthority("IMPATIENT", [{ do: "down" }]);
    // Without stock, whose answer a busy machine may give after the wait.
    const impatient = { ...sale("IMPATIENT"), stock: "off" } as const;
    calls.length = 0;
    const { result: how, outcome } = await starter.startSaleAndWait(impatient, { waitSeconds: 2 });
    expect({ how, stage: outcome.stage, calls }).toEqual({
      how: "started",
      stage: "awaiting-authority",
      calls: ["ExecuteMultiOperation"],
    });
    rig.simulator.setAuthority("IMPATIENT", [{ do: "accept" }]);
    expect(await starter.outcome({ invoice: "IMPATIENT" }, { waitSeconds: 20 })).toMatchObject({ stage: "completed" });
  });

  test("is told that a correction is accepted, and waits for both of its documents by one question", async () => {
    const invoice = "WRONG";
    await starter.startSaleAndWait({ ...sale(invoice), refundWindow: "1 hour" }, { waitSeconds: 20 });
    rig.simulator.setAuthority("RIGHT", [{ do: "accept", afterMs: 2_000 }]);
    const request = { reason: "06", traderInvoiceNumber: "CN-WRONG", replaceWith: sale("RIGHT") } as const;
    const accepted = await starter.correct({ invoice }, request);
    expect(accepted).toMatchObject({ invoice, creditNote: "CN-WRONG", correctedBy: "RIGHT", attentions: [] });
    expect(accepted.stage).toMatch(/^(crediting|issuing)$/);
    calls.length = 0;
    expect(await starter.outcome({ invoice }, { waitSeconds: 20 })).toMatchObject({
      stage: "credited",
      correction: { stage: "corrected", receipt: { cuInvoiceNo: expect.any(String) } },
    });
    expect(calls.filter((call) => call === "UpdateWorkflowExecution")).toHaveLength(1);
    expect(await starter.correction({ invoice })).toMatchObject({ stage: "corrected", waitingFor: "nothing" });
  });

  test("names the fields in which a known sale differs, and finds the same one", async () => {
    await starter.startSaleAndWait(sale("TAKEN"));
    const other = { ...sale("TAKEN"), lines: [{ ...TEA, quantity: 9 }] };
    await expect(starter.startSaleAndWait(other)).rejects.toMatchObject({
      code: "Conflict",
      fields: ["lines[0].quantity"],
    });
    expect(await starter.startSaleAndWait(sale("TAKEN"))).toMatchObject({ result: "known" });
    expect(rig.simulator.documents("TAKEN")).toHaveLength(1);
  });

  test("tells by an error's code which further fields it has", async () => {
    const thrown = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
    const invalid = await thrown(starter.startSale({ ...sale("NO-LINES"), lines: [] }));
    const conflict = await thrown(starter.startSale({ ...sale("ONE-TRIP"), lines: [{ ...TEA, quantity: 9 }] }));
    // Compiled: each field is there once the code is known.
    const fieldsOf = (error: unknown): readonly string[] | undefined => {
      if (!isFiscalflowError(error)) throw error;
      if (error.code === "InvalidInput") return error.problems;
      if (error.code === "UnknownConnection") return error.connections;
      if (error.code === "NotAllowed") return error.allowed;
      return error.code === "Conflict" ? error.fields : undefined;
    };
    expect(fieldsOf(invalid)).toEqual([expect.stringMatching(/^lines: /)]);
    expect(fieldsOf(conflict)).toEqual(["lines[0].quantity"]);
    expect(() => fieldsOf(new TypeError("another"))).toThrow("another");
    const codes: readonly ClientError["code"][] = ERROR_CODES satisfies readonly ErrorCode[];
    expect(codes).toContain("InvalidInput");
  });

  test("receives the workflow's refusals: of input, and of an update with the allowed ones", async () => {
    const elsewhere = { ...sale("ELSEWHERE"), connection: "elsewhere", businessId: "biz_1" };
    await expect(starter.startSaleAndWait(elsewhere)).rejects.toMatchObject({
      code: "InvalidInput",
      problems: [expect.stringMatching(/^connection: expected a configured connection/)],
    });
    await starter.startSale({ ...sale("OPEN"), refundWindow: "1 hour" });
    await rig.stateWhen("OPEN", ({ stage }) => stage === "completed");
    const unknown = { workflowId: "synced/default/NOBODY" };
    await expect(starter.retry(unknown)).rejects.toThrow(
      /^There is no workflow \S+NOBODY\. Check the .+, of which its id is made\.$/,
    );
    await expect(starter.cancel({ invoice: "OPEN" }, { reason: "why" })).rejects.toMatchObject({
      code: "NotAllowed",
      allowed: ["refund", "outcome"],
      problems: [],
    });
    const malformed = { referenceId: 5, applied: "yes", note: " ", colour: "red" } as unknown as ResolveStockRequest;
    await expect(starter.resolveStock({ invoice: "OPEN" }, malformed)).rejects.toMatchObject({
      code: "NotAllowed",
      allowed: ["refund", "outcome"],
      problems: [
        "Unknown field colour; expected referenceId, applied, note, by?.",
        "Expected the field referenceId with a text in it.",
        "Expected the field applied with true or false in it.",
        "Expected the field note with a text in it.",
      ],
    });
    const neither = { note: "seen" } as ResolveDocumentRequest;
    await expect(starter.resolveDocument({ invoice: "OPEN" }, neither)).rejects.toMatchObject({
      code: "NotAllowed",
      problems: ["Expected either saleId or notCreated, found neither."],
    });
    await expect(
      starter.resolveBatch({ invoice: "OPEN" }, { processed: true, note: "seen in the dashboard" }),
    ).rejects.toMatchObject({ code: "NotAllowed", message: expect.stringContaining("has no update resolveBatch") });
    await starter.refund({ invoice: "OPEN" }, { reason: "06", traderInvoiceNumber: "CN-OPEN" });
    expect(await result("OPEN")).toMatchObject({ stage: "credited" });
  });

  test.each([NaN, Infinity, -1, 86_401, "20", {}, null])("refuses to wait for %j seconds", async (wanted) => {
    const wait = { waitSeconds: wanted as number };
    const refund = { reason: "06", traderInvoiceNumber: "CN-NO-WAIT" } as const;
    const corrected = { reason: "06", traderInvoiceNumber: "CN-NO-WAIT", replaceWith: sale("NO-WAIT-2") } as const;
    const key = { invoice: "NO-WAIT" };
    for (const call of [
      () => starter.startSaleAndWait(sale("NO-WAIT"), wait),
      () => starter.outcome(key, wait),
      () => starter.refund(key, refund, wait),
      () => starter.correct(key, corrected, wait),
    ])
      expect(await failing(call())).toMatchObject({
        code: "InvalidInput",
        message: expect.stringMatching(/waitSeconds: expected a number of seconds from 0 to 86400, found /),
      });
    expect(await failing(starter.getSale(key))).toMatchObject({ code: "NotFound" });
  });

  test("names the connections that there are where a sale of another one is asked for, or started", async () => {
    const client = new Client({ connection, namespace: rig.namespace });
    const checking = createStarter({ client, businesses: { default: "biz_1" }, connections: ["default"] });
    const key = { invoice: "NOWHERE", connection: "nope" };
    for (const call of [
      () => checking.startSale({ ...sale("NOWHERE"), connection: "nope" }),
      () => checking.outcome(key),
      () => checking.getSale(key),
      () => checking.refund(key, { reason: "06", traderInvoiceNumber: "CN-NOWHERE" }),
    ])
      await expect(call()).rejects.toMatchObject({ code: "UnknownConnection", connections: ["default"] });
  });

  test("says that Temporal refused the call where there is no such namespace", async () => {
    const namespace = "nobody-made-this-one";
    const lost = createStarter({ client: new Client({ connection, namespace }), businesses: { default: "biz_1" } });
    const key = { invoice: "NO-NAMESPACE" };
    for (const call of [
      () => lost.startSale(sale("NO-NAMESPACE")),
      () => lost.startSaleAndWait(sale("NO-NAMESPACE")),
      () => lost.outcome(key),
      () => lost.getSale(key),
      () => lost.refund(key, { reason: "06", traderInvoiceNumber: "CN-NO-NAMESPACE" }),
      () => lost.correction(key),
      () => lost.retry(key),
      () => lost.restart(key, { note: "why" }),
      () => lost.events().next(),
      () => lost.listAttention().next(),
    ])
      expect(await failing(call())).toMatchObject({
        code: "TemporalRefused",
        message: expect.stringMatching(
          `${namespace}.*\\. Nothing was started\\. Check the namespace and the address .*TEMPORAL_NAMESPACE`,
        ),
      });
  });

  describe("while Temporal is away", () => {
    test("each function says so in bounded time, and nothing is started", async () => {
      line.cut();
      const asked = await Promise.all([
        failing(starter.startSale(sale("AWAY-1"))),
        failing(starter.startSaleAndWait(sale("AWAY-2"), { waitSeconds: 2 })),
        failing(starter.getSale({ invoice: "AWAY-1" })),
        failing(starter.outcome({ invoice: "AWAY-1" })),
        failing(starter.refund({ invoice: "AWAY-1" }, { reason: "06", traderInvoiceNumber: "CN" })),
        failing(starter.retry({ invoice: "AWAY-1" })),
        failing(starter.listAttention().next()),
      ]);
      expect(asked.map(({ code }) => code)).toEqual(asked.map(() => "TemporalUnavailable"));
      expect(Math.max(...asked.map(({ seconds }) => seconds))).toBeLessThan(65);
      expect(asked[0]?.seconds).toBeLessThan(20);
      expect(asked[1]?.seconds).toBeLessThan(9);
      expect(asked[0]?.message).toContain("Ask again for the same: nothing is done twice.");
      for (const { message } of asked)
        expect(message).toMatch(/^Temporal at 127\.0\.0\.1:\d+ cannot be reached: no answer within \d+ s\. /);
      line.restore();
      for (const invoice of ["AWAY-1", "AWAY-2"]) {
        expect(await failing(rig.starter.getSale({ invoice }))).toMatchObject({ code: "NotFound" });
        expect(await starter.startSaleAndWait(sale(invoice))).toMatchObject({ outcome: { stage: "completed" } });
        expect(rig.simulator.documents(invoice)).toHaveLength(1);
      }
    });

    test.each(["before", "after"] as const)(
      "a line that is cut %s the start gets to Temporal costs no second document, and the caller hears the outcome",
      async (when) => {
        const invoice = `CUT-${when}`;
        rig.simulator.setAuthority(invoice, [{ do: "accept", afterMs: 1_500 }]);
        cutOn = { text: invoice, when };
        const started = starter.startSaleAndWait(sale(invoice));
        await expect.poll(() => cutOn).toBeUndefined();
        setTimeout(() => line.restore(), 1_000);
        expect(await started).toMatchObject({ outcome: { stage: "completed" } });
        expect(rig.simulator.documents(invoice)).toHaveLength(1);
      },
    );
  });

  test("lists what needs an operator, with updates that are accepted once their texts are filled in, and not before", async () => {
    const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId: "LOST/item_tea/sold" } });
    await starter.startSale(sale("LOST"));
    await starter.startSale({ ...sale("UNKNOWN"), lines: [{ ...TEA, itemId: "item_of_nobody" }] });
    const listed = async (filter = {}): Promise<OpenAttention[]> => {
      const all: OpenAttention[] = [];
      for await (const one of starter.listAttention(filter)) all.push(one);
      return all;
    };
    await expect.poll(async () => (await listed()).map(({ code }) => code).toSorted()).toHaveLength(2);
    const found = await listed();
    expect(await listed({ businessId: "biz_1" })).toEqual(found);
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on("warning", hear);
    // A reader of its events leaves a workflow that has its name.
    for await (const event of starter.events({ businessId: "biz_typo" })) expect(event).toBeUndefined();
    for (const businessId of ["biz_typo", "biz_typo", "biz_1"])
      for await (const one of starter.listAttention({ businessId })) expect(one).toMatchObject({ businessId: "biz_1" });
    await expect
      .poll(() => warnings.filter(({ name }) => name === "FiscalflowWarning").map(({ message }) => message))
      .toEqual([
        expect.stringContaining("The ledger has no event yet"),
        'Temporal has no workflow, open or closed, of business "biz_typo". If it should have, check the name.',
      ]);
    process.off("warning", hear);
    const [unknown, stock] = ["item-unknown", "stock-unknown"].map((code) => found.find((one) => one.code === code));
    expect(unknown).toMatchObject({
      workflowId: "sale/default/biz_1/UNKNOWN",
      workflow: "sale",
      invoice: "UNKNOWN",
      businessId: "biz_1",
      message: expect.stringContaining("item_of_nobody"),
    });
    expect(stock?.updates).toEqual(
      [true, false].map((applied) => ({
        update: "resolveStock",
        when: applied
          ? "if the movement was applied: it is not sent again"
          : "if it was not applied: it is then sent again",
        input: { referenceId: "LOST/item_tea/sold", applied, note: expect.any(String) },
      })),
    );
    for (const [attention, update] of [
      [unknown, "retry"],
      [unknown, "cancel"],
      [stock, "resolveStock"],
    ] as const) {
      const example = attention?.updates.find((one) => one.update === update);
      if (!attention || !example) throw new Error(`${update} is not listed: ${JSON.stringify(found)}`);
      const text = update === "cancel" ? "reason" : "note";
      await expect(starter.answer({ workflowId: attention.workflowId }, example)).rejects.toMatchObject({
        code: "InvalidInput",
        problems: [expect.stringMatching(`^${text}: expected your own text, found the example's "`)],
      });
      await starter.answer(attention, { update, input: { ...example.input, [text]: "seen in the dashboard" } });
    }
    expect(await result("UNKNOWN")).toMatchObject({ stage: "cancelled" });
    expect(await result("LOST")).toMatchObject({
      stage: "completed",
      stockMovements: [{ state: "applied", decision: { by: "till-1" } }],
    });
    await expect.poll(() => listed()).toEqual([]);
    process.on("warning", hear);
    // Of a business whose sales need nobody, an empty list is all there is to say.
    expect(await listed({ businessId: "biz_1" })).toEqual([]);
    await new Promise(setImmediate);
    process.off("warning", hear);
    expect(warnings).toHaveLength(2);
  });

  describe("while no worker runs", () => {
    const [open, closed] = ["NOBODY-OPEN", "NOBODY-CLOSED"];
    const refund = (invoice: string) => ({ reason: "06", traderInvoiceNumber: `CN-${invoice}` }) as const;
    beforeAll(async () => {
      await starter.startSaleAndWait({ ...sale(open), refundWindow: "1 hour" });
      await starter.startSaleAndWait(sale(closed));
      await result(closed);
      await rig.stopWorkers();
    });

    test("a call ends within three seconds beyond its wait, and its error says what got no answer and how to ask again", async () => {
      const wait = { waitSeconds: 2 };
      const start = /the start of sale.+NOBODY-1\b.+ it stays one sale\./;
      const outcome = /the wait for the outcome of .+ Ask again for the same\./;
      const question = /the question to the ledger about sale NOBODY-KNOWN\b.+ changes nothing\./;
      const refunded = /the update refund of .+ it stays one credit note\./;
      const asked = [
        [starter.startSaleAndWait(sale("NOBODY-1"), wait), start],
        [starter.outcome({ invoice: open }, wait), outcome],
        [starter.outcome({ invoice: "NOBODY-KNOWN" }, wait), question],
        [starter.refund({ invoice: open }, refund(open), wait), refunded],
        [starter.refund({ invoice: closed }, refund(closed), wait), refunded],
      ] as const;
      const failed = await Promise.all(asked.map(([call]) => failing(call)));
      for (const [index, { code, seconds, message }] of failed.entries()) {
        expect(code).toMatch(/^(NoWorker|NoAnswer)$/);
        expect(message).toMatch(asked[index]?.[1] ?? "");
        expect(message).toMatch(/\(gRPC \d+ [A-Z_]+(: .+)?\)\. .+`fiscalflow worker`/);
        // The rest is for a busy machine.
        expect(seconds).toBeLessThan(7);
      }
    });

    test("a caller who waits for long gets the outcome of the worker that starts meanwhile, and the sale is one", async () => {
      const waiting = starter.startSaleAndWait(sale("NOBODY-2"), { waitSeconds: 60 });
      const refunding = starter.refund({ invoice: open }, refund(open), { waitSeconds: 60 });
      await failing(starter.outcome({ invoice: open }, { waitSeconds: 1 }));
      await rig.startWorkers();
      expect(await waiting).toMatchObject({ outcome: { stage: "completed" } });
      expect((await refunding).stage).toBe("credited");
      expect(await starter.startSaleAndWait(sale("NOBODY-1"))).toMatchObject({
        result: "known",
        outcome: { stage: "completed" },
      });
      for (const invoice of ["NOBODY-1", "NOBODY-2"]) expect(rig.simulator.documents(invoice)).toHaveLength(1);
    });
  });
});
