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
  WORKFLOW_TYPES,
  type WorkflowState,
} from "../../contract/index.ts";
import type { SaleState } from "../../starter/index.ts";
import { isUnreadable, isWithoutAnswer } from "../../starter/answered-in-time.ts";
import { type PendingCall, pendingCallsOf, waitsForService } from "../../starter/pending-calls.ts";
import { inParallel } from "./in-parallel.ts";
import type { Scope } from "./scope.ts";
import { allOf, businessClause, idClause, jobsQuery, quoted, RUNNING, typesClause } from "./visibility-query.ts";

/** What is wrong with a service of a connection, as the calls that wait for it have met it. */
export interface ConnectionTrouble {
  connection: string;
  trouble: ServiceTrouble;
  /** When an attempt ended so last (Unix milliseconds). */
  seenAtMs: number;
  work: Work;
  /** Workflows that have met it, or whose call waits in the queue behind those. */
  waiting: number;
  /** Whether there are more than were looked at. */
  atLeast: boolean;
}

type Work = "sales" | "jobs";

/** A page of Temporal's list. */
const MOST_LISTED = 1_000;
/** The oldest of those are looked at one by one: while the API is away, only the first in line are tried. */
const MOST_SEEN = 50;
const CONCURRENCY = 20;
/** Of those that have no call which has met something, the oldest are asked themselves. */
const MOST_ASKED = 20;
const ANSWER_WITHIN_MS = 3_000;

const STAGES_THAT_CALL: readonly Stage[] = [
  "resolving-items",
  "registering",
  "submitting",
  "adjusting-stock",
  "awaiting-authority",
  "crediting",
];

/** A workflow that may wait for a service. */
interface WaitingRun {
  workflowId: string;
  connection: string;
  calls: PendingCall[];
  /** It waits for no activity of a service: it may have put a call off itself. */
  hasNoCall: boolean;
}

/** What a run has met, and when last. */
type Met = Pick<PendingCall, "trouble" | "troubleSeenAtMs">;

/**
 * What is wrong with the services, by connection and kind. Nobody writes it down: the failures of the pending calls say
 * it, and since when; where none does, the workflows that have put a call off themselves.
 */
export async function serviceTroubles(
  client: Client,
  scope: Scope,
  work: Work = "sales",
): Promise<ConnectionTrouble[]> {
  const candidates = await waitingRuns(
    client,
    work === "sales" ? salesQuery(scope) : allOf([jobsQuery(scope), RUNNING]),
  );
  const seen = await inParallel(candidates.slice(-MOST_SEEN), CONCURRENCY, ({ workflowId }) =>
    waitingRun(client, workflowId),
  );
  const atLeast = candidates.length > MOST_SEEN;
  const troubles: ConnectionTrouble[] = [];
  for (const connection of new Set(seen.map((run) => run.connection))) {
    const runs = seen.filter((run) => run.connection === connection);
    const met = await metBy(client, runs);
    if (work === "sales" && met.size === 0 && runs.some((run) => isQueued(run))) {
      // Those whose documents were signed last are the first whose movements a closed budget keeps back.
      const signed = await waitingRuns(client, signedQuery({ ...scope, connection }), MOST_ASKED);
      await askThemselves(client, signed, met);
    }
    const all = [...met.values()].flat();
    for (const kind of new Set(all.map(({ trouble }) => kindOf(trouble)))) {
      const ofKind = (said: readonly Met[]): Met[] => said.filter(({ trouble }) => kindOf(trouble) === kind);
      const episode = latestEpisode(ofKind(all));
      if (!episode) continue;
      const waits = new Set([...met].flatMap(([workflowId, said]) => (ofKind(said).length > 0 ? [workflowId] : [])));
      for (const run of runs) if (isQueued(run, episode.trouble)) waits.add(run.workflowId);
      troubles.push({ connection, ...episode, work, waiting: waits.size, atLeast });
    }
  }
  return troubles;
}

/** What each run has met, by its id. Of runs behind a closed budget no call is tried, so their calls say nothing. */
async function metBy(client: Client, runs: readonly WaitingRun[]): Promise<Map<string, Met[]>> {
  const met = new Map<string, Met[]>();
  for (const { workflowId, calls } of runs) {
    const said = calls.filter(({ trouble }) => trouble !== undefined);
    if (said.length > 0) met.set(workflowId, said);
  }
  const someQueued = runs.some((run) => isQueued(run));
  const silent = runs.filter(({ workflowId, hasNoCall }) => !met.has(workflowId) && (hasNoCall || someQueued));
  await askThemselves(client, silent.slice(-MOST_ASKED), met);
  return met;
}

/** Adds what their workflows have put calls off for. */
async function askThemselves(
  client: Client,
  runs: readonly { workflowId: string }[],
  met: Map<string, Met[]>,
): Promise<void> {
  await inParallel(runs, CONCURRENCY, async ({ workflowId }) => {
    const trouble = await deferredFor(client, workflowId);
    // It was met when it began, at the latest.
    if (trouble) met.set(workflowId, [{ trouble, troubleSeenAtMs: trouble.sinceMs }]);
  });
}

/** Whether a call waits for a worker. @param behind to the service that has this trouble */
function isQueued({ calls }: WaitingRun, behind?: ServiceTrouble): boolean {
  const called = behind && (behind.service ?? "compliance");
  return calls.some(({ state, call }) => state === "queued" && (!called || calledService(call) === called));
}

/** What a call has met that the workflow put off itself. Undefined too where no worker answers for it. */
async function deferredFor(client: Client, workflowId: string): Promise<ServiceTrouble | undefined> {
  const ask = () => client.workflow.getHandle(workflowId).query<Pick<WorkflowState, "serviceTrouble">>(STATE_QUERY);
  try {
    return (await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask)).serviceTrouble;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isWithoutAnswer(error) || isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Which trouble of which service. */
function kindOf(trouble: ServiceTrouble | undefined): string {
  return `${trouble?.service ?? ""} ${trouble?.kind ?? ""}`;
}

function salesQuery(scope: Scope): string {
  const stages = `${SEARCH_ATTRIBUTES.stage} IN (${STAGES_THAT_CALL.map(quoted).join(", ")})`;
  return openSales(scope, `(${stages} OR ${SEARCH_ATTRIBUTES.attention} = "credentials")`);
}

function signedQuery(scope: Scope): string {
  return openSales(scope, `${SEARCH_ATTRIBUTES.stage} IN ("completed", "credited")`);
}

function openSales({ connection, business }: Scope, which: string): string {
  return allOf([
    typesClause([WORKFLOW_TYPES.sale]),
    RUNNING,
    which,
    businessClause(business),
    connection === undefined ? undefined : idClause([`sale/${connection}/`]),
  ]);
}

/** The newest first. */
async function waitingRuns(client: Client, query: string, most = MOST_LISTED): Promise<WorkflowExecutionInfo[]> {
  const runs: WorkflowExecutionInfo[] = [];
  for await (const run of client.workflow.list({ query, pageSize: most })) {
    runs.push(run);
    if (runs.length >= most) break;
  }
  return runs;
}

async function waitingRun(client: Client, workflowId: string): Promise<WaitingRun> {
  const connection = workflowId.split("/")[1] ?? DEFAULT_CONNECTION;
  try {
    const run = await client.workflow.getHandle(workflowId).describe();
    return { workflowId, connection, calls: pendingCallsOf(client, run), hasNoCall: !waitsForService(run) };
  } catch (error) {
    // Deleted since it was listed.
    if (error instanceof WorkflowNotFoundError) return { workflowId, connection, calls: [], hasNoCall: false };
    throw error;
  }
}

/**
 * Each call tells from when to when it knows of the trouble: as it was seen last, and since when by all who saw it
 * meanwhile. A worker that was restarted knows of its own time alone; what was over before is another trouble.
 */
export function latestEpisode(calls: readonly Met[]): Pick<ConnectionTrouble, "trouble" | "seenAtMs"> | undefined {
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
export function troubleLine({ connection, trouble, seenAtMs, work, waiting, atLeast }: ConnectionTrouble): string {
  const [one, many] = NOUNS[work];
  const who = waiting === 1 ? `1 ${one} waits` : `${waiting} ${many} wait`;
  const seen = `last seen ${nairobiTime(seenAtMs)}`;
  return `${troubleInWords(trouble)}, ${seen}: ${atLeast ? "at least " : ""}${who} (connection ${connection})`;
}

const NOUNS: Readonly<Record<Work, readonly [string, string]>> = { sales: ["sale", "sales"], jobs: ["job", "jobs"] };

/** A call that no worker has taken cannot say why: others before it in the queue can, of a sale or of a job. */
export async function withFleetTrouble(client: Client, connection: string, state: SaleState): Promise<SaleState> {
  if (state.source === "ledger" || state.serviceTrouble) return state;
  if (!state.pendingCalls?.some((call) => call.state === "queued")) return state;
  for (const work of ["sales", "jobs"] as const) {
    const troubles = await serviceTroubles(client, { connection }, work);
    const [latest] = troubles
      .filter(({ trouble }) => trouble.service === undefined)
      .toSorted((a, b) => b.seenAtMs - a.seenAtMs);
    if (latest) return { ...state, serviceTrouble: latest.trouble };
  }
  return state;
}
