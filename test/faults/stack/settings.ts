import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { type Keys, ORGANISATION } from "../plan/world.ts";
import { TIMINGS } from "./timings.ts";

/** New ones for each run, so that wherever one of them is found, it came from this run. */
export interface Secrets {
  readonly keys: Keys;
  /** Signs the tokens of callback URLs. */
  readonly callback: string;
  /** Still honoured, signs nothing any more. */
  readonly callbackBefore: string;
  /** Of payloads. */
  readonly payloads: readonly [string, string];
}

export function newSecrets(): Secrets {
  const random = (): string => randomBytes(24).toString("hex");
  const key = (id: string): string => `${id}:${randomBytes(32).toString("base64")}`;
  return {
    payloads: [key("one"), key("other")],
    keys: { organisation: `cmp_sk_test_${random()}`, bound: `cmp_sk_test_${random()}` },
    callback: random(),
    callbackBefore: random(),
  };
}

export function allSecrets({ keys, callback, callbackBefore, payloads }: Secrets): string[] {
  return [keys.organisation, keys.bound, callback, callbackBefore, ...payloads];
}

interface Places {
  readonly folder: string;
  readonly temporalAddress: string;
  readonly receiverPort: number;
  readonly secrets: Secrets;
}

/** The environment of the receiver, and of every worker but for the service's address. */
export function commonEnvironment({ folder, temporalAddress, receiverPort, secrets }: Places): Record<string, string> {
  return {
    ...TIMINGS,
    TEMPORAL_ADDRESS: temporalAddress,
    CALLBACK_PUBLIC_URL: `http://127.0.0.1:${receiverPort}`,
    CALLBACK_PORT: String(receiverPort),
    CALLBACK_SECRETS: `${secrets.callback},${secrets.callbackBefore}`,
    CALLBACK_ALLOW_LOOPBACK: "1",
    FISCALFLOW_HOME: join(folder, "home"),
    LOG_LEVEL: "debug",
    ORGANISATION_KEY: secrets.keys.organisation,
    BOUND_KEY: secrets.keys.bound,
  };
}

/** The file for one worker, whose calls go through a gate of its own. Returns its path. */
export async function writeWorkerConfig(folder: string, seat: number, gateUrl: string): Promise<string> {
  const path = join(folder, `worker-${seat}.json`);
  const compliance = {
    default: {
      baseUrl: gateUrl,
      apiKey: { env: "ORGANISATION_KEY" },
      businesses: ORGANISATION.businesses,
      application: "shop",
    },
    unkeyed: {
      baseUrl: gateUrl,
      apiKey: { env: "BOUND_KEY" },
      keyReach: "business",
      businessId: "biz_4",
      dialect: { createSale: { idempotencyKey: "off" } },
    },
  };
  await writeFile(path, JSON.stringify({ compliance }));
  return path;
}
