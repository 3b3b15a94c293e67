import { seededRandom } from "../../src/dev/simulator/seeded-random.ts";
import { BIG, connectionsOf, SHOP, SMALL, strangersKeyOf } from "./businesses.ts";
import type { Documents, Reader } from "./documents.ts";
import type { Lane } from "./lanes.ts";
import type { Engine } from "./load/engine.ts";
import { atRandomMoments, ratePerSecond } from "./load/random-moments.ts";
import { runStranger } from "./load/stranger.ts";
import type { StartedJob } from "./measure/waits.ts";
import type { Job } from "./workflows.ts";

export interface LaneSetting {
  readonly lane: Lane;
  readonly engine: Engine;
  readonly documents: Documents;
  readonly serviceUrl: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly seed: number;
  readonly signal: AbortSignal;
}

/** Jobs that wait at any time, in windows: so many that no window ever lacks work. */
const BACKLOG_WINDOWS = 2;
/** Of each small business: half of what equal shares among twenty would give it. */
const SMALL_SHARE = 0.5 / 20;

/** Keeps a lane busy until the signal. Resolves, then, with the jobs that somebody waited for. */
export async function runLane(setting: LaneSetting): Promise<StartedJob[]> {
  const { lane, engine, documents, limit, signal } = setting;
  const { load } = lane;
  const connections = connectionsOf(lane);
  const random = seededRandom(setting.seed);
  const jobs: StartedJob[] = [];
  const failures: unknown[] = [];

  function jobOf(reader: Reader, businessId: string, index: number): Job {
    const connection = connections[index % connections.length] ?? lane.name;
    return { connection, businessId, saleId: documents.issue({ lane: lane.name, reader, businessId }) };
  }

  function arrivals(share: number, businessAt: () => string): Promise<void> {
    return atRandomMoments({
      perSecond: ratePerSecond(share, setting),
      random,
      signal,
      happen: () => {
        const job = jobOf("interactive", businessAt(), jobs.length);
        jobs.push({ saleId: job.saleId, businessId: job.businessId, startedMs: Date.now() });
        engine.job(job, "interactive").catch((error: unknown) => failures.push(error));
      },
    });
  }

  const reader = load.backlog === "background" ? "background" : "interactive";
  const owner = load.backlog === "one-big" ? BIG : SHOP;
  const waiting = Array.from({ length: BACKLOG_WINDOWS * limit }, (_, index) => jobOf(reader, owner, index));
  const others: Promise<void>[] = [];
  if (load.stranger !== undefined)
    others.push(
      runStranger({
        serviceUrl: setting.serviceUrl,
        apiKey: strangersKeyOf(lane),
        saleId: documents.issue({ lane: lane.name, reader: "stranger", businessId: SHOP }),
        businessId: SHOP,
        perSecond: ratePerSecond(load.stranger, setting),
        random: seededRandom(setting.seed + 1),
        signal,
      }),
    );
  await engine.backlog(waiting, reader);
  if (load.arrivals !== undefined) others.push(arrivals(load.arrivals, () => SHOP));
  if (load.backlog === "one-big")
    others.push(arrivals(SMALL_SHARE * SMALL.length, () => SMALL[Math.floor(random() * SMALL.length)] ?? BIG));
  others.push(untilAborted(signal));
  await Promise.all(others);
  await engine.end();
  if (failures.length > 0)
    throw new Error(`${failures.length} jobs of ${lane.name} could not be started`, { cause: failures[0] });
  return jobs;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
