import { type Client, ServiceError } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";

import { LedgerWitness } from "./ledger-witness.ts";

const NOTE = { ledger: "tables", server: "7/1", events: 12 };
const DEADLINE_EXCEEDED = 4;
const UNIMPLEMENTED = 12;
const log = { warn: () => undefined };

/** Of a Temporal whose first answers about the note are errors of gRPC. */
function temporal(...codes: number[]): { client: Client; asked: () => number } {
  let asked = 0;
  const describe = async () => {
    const code = codes[asked++];
    await delay(1);
    const grpc = Object.assign(new Error("refused"), { code, details: "refused", metadata: {} });
    if (code !== undefined) throw new ServiceError("refused", { cause: grpc });
    return { state: { note: JSON.stringify(NOTE) } };
  };
  const client = {
    withDeadline: (_deadline: number, ask: () => Promise<unknown>) => ask(),
    schedule: { getHandle: () => ({ describe }) },
  };
  return { client: client as unknown as Client, asked: () => asked };
}

it("trusts no database before Temporal has said what was seen of it, though that takes several questions", async () => {
  const { client } = temporal(DEADLINE_EXCEEDED, DEADLINE_EXCEEDED, DEADLINE_EXCEEDED);
  expect(await new LedgerWitness(client, log).seen()).toEqual(NOTE);
});

it("does without where Temporal has no Schedules", async () => {
  const { client, asked } = temporal(UNIMPLEMENTED);
  expect(await new LedgerWitness(client, log).seen()).toBeUndefined();
  expect(asked()).toBe(1);
});
