import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";

import { freePort } from "../../../src/servers/start-dev-server.ts";
import { spawnGuarded } from "../../../src/servers/run-command.ts";

export interface RedisServer {
  readonly url: string;
  readonly prefix: string;
  stop(): Promise<void>;
}

const START_MS = 10_000;

/** That of REDIS_URL, or one of our own where `redis-server` is on the PATH; else undefined, and BullMQ is left out. */
export async function redisAtHand(env: NodeJS.ProcessEnv): Promise<RedisServer | undefined> {
  const prefix = `fiscalflow-bench-${randomUUID()}`;
  const given = env["REDIS_URL"];
  if (given) return { url: given, prefix, stop: () => Promise.resolve() };
  const port = await freePort();
  const child = spawnGuarded("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], { env });
  if (child.pid === undefined) return undefined;
  const url = `redis://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    child.signal("SIGKILL");
    await child.ended;
  };
  if (await answers(url)) return { url, prefix, stop };
  await stop();
  return undefined;
}

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: null });
  redis.on("error", () => undefined);
  try {
    const tooLate = delay(START_MS, undefined, { ref: false });
    return (await Promise.race([redis.ping(), tooLate])) !== undefined;
  } finally {
    redis.disconnect();
  }
}
