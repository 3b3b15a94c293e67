import { type Client, ServiceError } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";

import { LedgerWitness } from "./ledger-witness.ts";

const NOTE = { ledger: "tables", server: "7/1", events: 12 };
const DEADLINE_EXCEEDED = 4;
/** Of a server that fails, or of something before it, which says nothing of Schedules. */
const OTHERS = { UNKNOWN: 2, RESOURCE_EXHAUSTED: 8, INTERNAL: 13, UNAUTHENTICATED: 16 };
const NONE_FOR_US = { NOT_FOUND: 5, PERMISSION_DENIED: 7, UNIMPLEMENTED: 12 };
const log = { warn: () => undefined };

/** Of a Temporal whose first answers about the note are errors of gRPC, or of no known kind. */
function temporal(...codes: (number | "not gRPC")[]): { client: Client; asked: () => number } {
  let asked = 0;
  const describe = async () => {
    const code = codes[asked++];
    await delay(1);
    if (code === "not gRPC") throw new TypeError("what came back cannot be read");
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

it.each([...Object.entries(OTHERS), ["not gRPC", "not gRPC"] as const])(
  "takes %s for no word that there is no note",
  async (_name, code) => {
    const { client } = temporal(code, code);
    expect(await new LedgerWitness(client, log).seen()).toEqual(NOTE);
  },
);

it.each(Object.entries(NONE_FOR_US))(
  "does without where Temporal has no Schedules for us (%s)",
  async (_name, code) => {
    const { client, asked } = temporal(code);
    expect(await new LedgerWitness(client, log).seen()).toBeUndefined();
    expect(asked()).toBe(1);
  },
);
