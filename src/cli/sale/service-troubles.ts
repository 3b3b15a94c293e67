import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import {
  calledService,
  DEFAULT_CONNECTION,
  nairobiTime,
  SEARCH_ATTRIBUTES,
  type ServiceTrouble,
  type Stage,
  STATE_QUERY,
  troubleInWords,
  type WorkflowState,
} from "../../contract/index.ts";
import { isUndecodable } from "../../payloads/index.ts";
import { isUnreadable, isWithoutAnswer } from "../../starter/answered-in-time.ts";
import { listedRuns, pendingCallsOf, waitsForService } from "../../starter/runs.ts";
import type { Scope } from "../options.ts";
import { allOf, jobsQuery, quoted, RUNNING, salesQuery } from "./visibility-query.ts";

/** What is wrong with a service of a connection, as the calls that wait for it have met it. */
export interface ConnectionTrouble extends Met {
  connection: string;
  work: Work;
  /** Workflows that have met it, or whose call waits in the queue behind those. */
  waiting: number;
  /** Whether there are more than were looked at. */
  atLeast: boolean;
}

interface Met {
  trouble: ServiceTrouble;
  /** When an attempt ended so last (Unix milliseconds). */
  seenAtMs: number;
}

type Work = "sales" | "jobs";

/** A page of Temporal's list. */
const MOST_LISTED = 1_000;
/** The oldest of those are looked at one by one: while the API is away, only the first in line are tried. */
const MOST_SEEN = 30;
const ANSWER_WITHIN_MS = 3_000;

const STAGES_THAT_CALL: readonly Stage[] = [
  "resolving-items",
  "registering",
  "submitting",
  "adjusting-stock",
  "awaiting-authority",
  "crediting",
];
const ATTENTION = SEARCH_ATTRIBUTES.attention;
/** A rejected sale reads its items, and is submitted again, unless that is up to an operator. */
const IS_REJECTED = `(${SEARCH_ATTRIBUTES.stage} = "rejected" AND (${ATTENTION} IS NULL OR ${ATTENTION} != "rejected"))`;
const CALL = `(${SEARCH_ATTRIBUTES.stage} IN (${STAGES_THAT_CALL.map(quoted).join(", ")}) OR ${IS_REJECTED} OR ${ATTENTION} = "credentials")`;

/**
 * What is wrong with the services, by connection and kind. Nobody writes it down: the failures of the pending calls say
 * it, and since when; where none does, the workflows that have put a call off themselves. Not looked at are completed
 * sales, also those whose movements wait: Temporal's list does not tell them from those that wait for a refund alone.
 */
export async function serviceTroubles(
  client: Client,
  scope: Scope,
  work: Work = "sales",
): Promise<ConnectionTrouble[]> {
  const query = work === "sales" ? salesQuery(scope, RUNNING, CALL) : allOf([jobsQuery(scope), RUNNING]);
  const listed: WorkflowExecutionInfo[] = [];
  for await (const run of listedRuns(client, { query, pageSize: MOST_LISTED })) {
    listed.push(run);
    if (listed.length >= MOST_LISTED) break;
  }
  const seen = await lookAt(client, listed.slice(-MOST_SEEN));
  const troubles: ConnectionTrouble[] = [];
  for (const connection of new Set(seen.map((run) => run.connection))) {
    const runs = seen.filter((run) => run.connection === connection);
    const all = runs.flatMap(({ met }) => met);
    for (const kind of new Set(all.map(kindOf))) {
      const episode = latestEpisode(all.filter((met) => kindOf(met) === kind));
      if (!episode) continue;
      const service = episode.trouble.service ?? "compliance";
      const waits = runs.filter(
        ({ met, queued }) => queued.includes(service) || met.some((one) => kindOf(one) === kind),
      );
      troubles.push({ connection, ...episode, work, waiting: waits.length, atLeast: listed.length > MOST_SEEN });
    }
  }
  return troubles;
}

function kindOf({ trouble: { service, kind } }: Met): string {
  return `${service ?? ""} ${kind}`;
}

/** What a workflow has met, and the services to which its calls wait for a worker. */
interface WaitingRun {
  connection: string;
  met: Met[];
  queued: (string | undefined)[];
}

function lookAt(client: Client, runs: readonly { workflowId: string }[]): Promise<WaitingRun[]> {
  return Promise.all(
    runs.map(async ({ workflowId }): Promise<WaitingRun> => {
      const handle = client.workflow.getHandle(workflowId);
      const waiting: WaitingRun = { connection: workflowId.split("/")[1] ?? DEFAULT_CONNECTION, met: [], queued: [] };
      const { met, queued } = waiting;
      try {
        const run = await handle.describe();
        for (const { trouble, troubleSeenAtMs: seenAtMs = 0, state, call } of await pendingCallsOf(client, run)) {
          if (trouble) met.push({ trouble, seenAtMs });
          if (state === "queued") queued.push(calledService(call));
        }
        if (met.length > 0 || (waitsForService(run) && queued.length === 0)) return waiting;
        // What a call has met that the workflow put off itself.
        const ask = () => handle.query<Pick<WorkflowState, "serviceTrouble">>(STATE_QUERY);
        const { serviceTrouble: trouble } = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
        // It was met when it began, at the latest.
        if (trouble) met.push({ trouble, seenAtMs: trouble.sinceMs });
      } catch (error) {
        // Deleted since it was listed, no worker answers for it, or another key encrypts it.
        const isSilent = error instanceof WorkflowNotFoundError || isWithoutAnswer(error) || isUnreadable(error);
        if (!isSilent && !isUndecodable(error)) throw error;
      }
      return waiting;
    }),
  );
}

/**
 * Each call tells from when to when it knows of the trouble: as it was seen last, and since when by all who saw it
 * meanwhile. A worker that was restarted knows of its own time alone; what was over before is another trouble.
 */
export function latestEpisode(calls: readonly Met[]): Met | undefined {
  const newestFirst = calls.toSorted((a, b) => b.seenAtMs - a.seenAtMs);
  let [episode] = newestFirst;
  for (const { trouble, seenAtMs } of newestFirst) {
    if (!episode || seenAtMs < episode.trouble.sinceMs) break;
    if (trouble.sinceMs < episode.trouble.sinceMs) episode = { trouble, seenAtMs: episode.seenAtMs };
  }
  return episode;
}

export function troubleLine({ connection, trouble, seenAtMs, work, waiting, atLeast }: ConnectionTrouble): string {
  const [one, many] = work === "sales" ? ["sale", "sales"] : ["job", "jobs"];
  const who = waiting === 1 ? `1 ${one} waits` : `${waiting} ${many} wait`;
  const seen = `last seen ${nairobiTime(seenAtMs)}`;
  return `${troubleInWords(trouble)}, ${seen}: ${atLeast ? "at least " : ""}${who} (connection ${connection})`;
}
