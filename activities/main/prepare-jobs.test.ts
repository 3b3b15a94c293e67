import { expect, test } from "vitest";

import type { ReconcileInput } from "../../src/contract/index.ts";
import { serve } from "../test-support/served.ts";
import { createJobPreparations } from "./prepare-jobs.ts";

async function prepared(accounting: string[], input: ReconcileInput = {}) {
  const { runtime } = await serve();
  const { connection } = runtime.profile;
  const runtimes = new Map(accounting.map((name) => [name === "same" ? connection : name, {}]));
  const { prepareReconcile } = createJobPreparations(new Map([[connection, runtime]]), runtimes);
  return { connection, ...(await prepareReconcile({ input })) };
}

test("a reconciliation takes the payments of the accounting connection of its name, or of the one that is named", async () => {
  const same = await prepared(["books", "same"]);
  expect(same.accounting).toBe(same.connection);
  expect((await prepared(["books", "same"], { accounting: "books" })).accounting).toBe("books");
});

test("a reconciliation without payments says why, and what to do about it", async () => {
  expect((await prepared([])).accounting).toMatchObject({
    kind: "not-compared",
    why: "no-accounting-service",
    nextStep: expect.stringContaining("ACCOUNTING_BASE_URL"),
  });
  expect((await prepared(["books", "till"])).accounting).toMatchObject({
    kind: "not-compared",
    why: "no-accounting-connection",
    reason: expect.stringContaining("books, till"),
    nextStep: expect.stringContaining("--accounting"),
  });
});
