import { Client, Connection, ServiceError } from "@temporalio/client";
import { expect, test } from "vitest";

import { createStarter, type Starter } from "./index.ts";
import { operations } from "./operate.ts";

const starter = createStarter({ client: new Client({ connection: Connection.lazy() }) });
const SALE = { invoice: "INV-1" };

type Call = (target: typeof SALE, request?: unknown) => Promise<unknown>;

const CALLS = [
  "cancel",
  "resolveStock",
  "resolveDocument",
  "resolveBatch",
  "acknowledge",
  "answer",
  "restart",
] as const;

test.each([
  [undefined, "nothing"],
  [null, "null"],
  ["x", '"x"'],
  [[], "a list of 0"],
])("an answer that is %j and no object is refused by every function that takes one", async (wrong, found) => {
  const expected = { code: "InvalidInput", problems: [`input: expected an object, found ${found}`] };
  // A retry may say nothing.
  for (const name of wrong === undefined ? CALLS : [...CALLS, "retry" as const])
    await expect((starter[name] as Call)(SALE, wrong), name).rejects.toMatchObject(expected);
  const answer = (starter.answer as Call)(SALE, { update: "cancel", input: wrong });
  await expect(answer).rejects.toMatchObject(expected);
});

test("an update that no operator's answer is, is refused, and a refund is sent to the function of that name", async () => {
  const input = { reason: "06", traderInvoiceNumber: "CN-1" };
  const problemOf = async (update?: string): Promise<unknown> => {
    const error: unknown = await (starter.answer as Call)(SALE, { update, input }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "InvalidInput" });
    return (error as { problems?: unknown }).problems;
  };
  expect(await problemOf("refund")).toEqual([
    'update: expected an operator\'s answer (for a refund call `refund` in place of `answer`), found "refund"',
  ]);
  const answers = '"retry", "cancel", "resolveStock", "resolveDocument", "resolveBatch", "acknowledge"';
  expect(await problemOf("outcome")).toEqual([`update: expected one of ${answers}, found "outcome"`]);
  expect(await problemOf()).toEqual([`update: expected one of ${answers}, found nothing`]);
});

test("a request id that is none is refused", async () => {
  await expect(starter.cancel(SALE, { reason: "why" }, { requestId: "" })).rejects.toThrow(
    /^The option of the answer is not valid:\n {2}requestId: expected at least 1 character, found an empty text$/,
  );
});

test.each(["", 5, null])("a list of what needs an operator, of the business %j, is refused", async (wrong) => {
  const filter = { businessId: wrong } as unknown as Parameters<Starter["listAttention"]>[0];
  await expect(starter.listAttention(filter).next()).rejects.toMatchObject({
    code: "InvalidInput",
    problems: [expect.stringMatching(/^businessId: expected /)],
  });
});

test("a restart says how long it has waited for a Temporal that cannot be reached", async () => {
  const away = Object.assign(new Error(), { code: 14, details: "Connection dropped", metadata: {} });
  const client = {
    withDeadline: async (_deadlineMs: number, work: () => Promise<unknown>) => await work(),
    workflow: { getHandle: () => ({ describe: () => Promise.reject(new ServiceError("Failed", { cause: away })) }) },
  } as unknown as Client;
  await expect(operations(client).restart("sale/1", { note: "why" })).rejects.toMatchObject({
    code: "TemporalUnavailable",
    message: expect.stringContaining("Temporal cannot be reached: no answer within 0 s."),
  });
});
