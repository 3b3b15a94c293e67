import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import {
  DEFAULT_CONNECTION,
  nairobiTime,
  SEARCH_ATTRIBUTES,
  type ServiceTrouble,
  type Stage,
  troubleInWords,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import type { SaleState } from "../../starter/index.ts";
import { type PendingCall, pendingCallsOf } from "../../starter/pending-calls.ts";
import { inParallel } from "./in-parallel.ts";
import type { Scope } from "./scope.ts";
import { allOf, businessClause, idClause, quoted, RUNNING, typesClause } from "./visibility-query.ts";

/** What is wrong with the API of a connection, as the calls that wait for it have met it. */
export interface ConnectionTrouble {
  connection: string;
  trouble: ServiceTrouble;
  /** When an attempt ended so last (Unix milliseconds). */
  seenAtMs: number;
  /** Sales and credit notes that have met it, or whose call waits in the queue behind those. */
  waiting: number;
  /** Whether there are more than were looked at. */
  atLeast: boolean;
}

/** A page of Temporal's list. */
const MOST_LISTED = 1_000;
/** The oldest of those are looked at one by one: while the API is away, only the first in line are tried. */
const MOST_SEEN = 50;
const CONCURRENCY = 20;

const STAGES_THAT_CALL: readonly Stage[] = [
  "resolving-items",
  "registering",
  "submitting",
  "adjusting-stock",
  "awaiting-authority",
];

/**
 * What is wrong with the API, by connection and kind. Nobody writes it down: the failures of the pending calls say it,
 * and since when.
 */
export async function serviceTroubles(client: Client, scope: Scope): Promise<ConnectionTrouble[]> {
  const candidates = await waitingRuns(client, scope);
  const seen = await inParallel(candidates.slice(-MOST_SEEN), CONCURRENCY, async ({ workflowId }) => ({
    connection: workflowId.split("/")[1] ?? DEFAULT_CONNECTION,
    calls: await callsOf(client, workflowId),
  }));
  const atLeast = candidates.length > MOST_SEEN;
  const troubles: ConnectionTrouble[] = [];
  for (const connection of new Set(seen.map((run) => run.connection))) {
    const runs = seen.filter((run) => run.connection === connection);
    const kinds = new Set(runs.flatMap(({ calls }) => calls.flatMap(({ trouble }) => trouble?.kind ?? [])));
    for (const kind of kinds) {
      const waits = ({ trouble, state }: PendingCall): boolean => trouble?.kind === kind || state === "queued";
      const waiting = runs.filter(({ calls }) => calls.some(waits)).length;
      const episode = latestEpisode(runs.flatMap(({ calls }) => calls.filter(({ trouble }) => trouble?.kind === kind)));
      if (episode) troubles.push({ connection, ...episode, waiting, atLeast });
    }
  }
  return troubles;
}

/** The newest first. */
async function waitingRuns(client: Client, { connection, business }: Scope): Promise<WorkflowExecutionInfo[]> {
  const stages = `${SEARCH_ATTRIBUTES.stage} IN (${STAGES_THAT_CALL.map(quoted).join(", ")})`;
  const query = allOf([
    typesClause([WORKFLOW_TYPES.sale, WORKFLOW_TYPES.creditNote]),
    RUNNING,
    `(${stages} OR ${SEARCH_ATTRIBUTES.attention} = "credentials")`,
    businessClause(business),
    connection === undefined ? undefined : idClause([`sale/${connection}/`, `credit-note/${connection}/`]),
  ]);
  const runs: WorkflowExecutionInfo[] = [];
  for await (const run of client.workflow.list({ query, pageSize: MOST_LISTED })) {
    runs.push(run);
    if (runs.length >= MOST_LISTED) break;
  }
  return runs;
}

async function callsOf(client: Client, workflowId: string): Promise<PendingCall[]> {
  try {
    return pendingCallsOf(client, await client.workflow.getHandle(workflowId).describe());
  } catch (error) {
    // Deleted since it was listed.
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}

/**
 * Each call tells from when to when it knows of the trouble: as it was seen last, and since when by all who saw it
 * meanwhile. A worker that was restarted knows of its own time alone; what was over before is another trouble.
 */
export function latestEpisode(
  calls: readonly PendingCall[],
): Pick<ConnectionTrouble, "trouble" | "seenAtMs"> | undefined {
  const newestFirst = calls
    .flatMap(({ trouble, troubleSeenAtMs: seenAtMs = 0 }) => (trouble ? [{ trouble, seenAtMs }] : []))
    .toSorted((a, b) => b.seenAtMs - a.seenAtMs);
  let [episode] = newestFirst;
  for (const { trouble, seenAtMs } of newestFirst) {
    if (!episode || seenAtMs < episode.trouble.sinceMs) break;
    if (trouble.sinceMs < episode.trouble.sinceMs) episode = { trouble, seenAtMs: episode.seenAtMs };
  }
  return episode;
}

/** As one line of a page. */
export function troubleLine({ connection, trouble, seenAtMs, waiting, atLeast }: ConnectionTrouble): string {
  const sales = waiting === 1 ? "1 sale waits" : `${waiting} sales wait`;
  const seen = `last seen ${nairobiTime(seenAtMs)}`;
  return `${troubleInWords(trouble)}, ${seen}: ${atLeast ? "at least " : ""}${sales} (connection ${connection})`;
}

/** A call that no worker has taken cannot say why: others before it in the queue can. */
export async function withFleetTrouble(client: Client, connection: string, state: SaleState): Promise<SaleState> {
  if (state.source === "ledger" || state.serviceTrouble) return state;
  if (!state.pendingCalls?.some((call) => call.state === "queued")) return state;
  const [latest] = (await serviceTroubles(client, { connection })).toSorted((a, b) => b.seenAtMs - a.seenAtMs);
  return latest ? { ...state, serviceTrouble: latest.trouble } : state;
}
