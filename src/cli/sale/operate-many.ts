import type { MessageReply } from "../../contract/index.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { describeError } from "../describe-error.ts";
import { printNote, printResult } from "../output.ts";
import { inParallel } from "./in-parallel.ts";
import type { OperatorFlags } from "./operate.ts";
import { visibilityQuery } from "./visibility-query.ts";
import type { Sales } from "./with-sales.ts";

const CONCURRENCY = 10;
const PROGRESS_EVERY_MS = 1_000;
/** gRPC's INVALID_ARGUMENT. */
const INVALID_ARGUMENT = 3;

type Tried =
  | { kind: "done"; workflowId: string; message: string }
  | { kind: "skipped"; workflowId: string; reason: string }
  | { kind: "failed"; workflowId: string; error: string };

export interface ManyFlags extends OperatorFlags {
  query?: string;
}

/** Exactly one way to say what is meant. @throws UsageError */
export function requireOneWay(invoice: string | undefined, { query, creditNote }: ManyFlags): void {
  if ((invoice === undefined) === (query === undefined))
    throw new UsageError("Give either the number of one sale, or --query for many.");
  if (query !== undefined && creditNote === true)
    throw new UsageError("--credit-note goes with one sale; --query finds credit notes by itself.");
}

/**
 * Sends an operator's update to every open sale and credit note that the query finds; none that fails holds up the
 * others.
 */
export async function operateMany(
  context: CliContext,
  flags: ManyFlags & { query: string },
  done: "retried" | "acknowledged",
  send: (operate: Sales["operate"], workflowId: string) => Promise<MessageReply>,
): Promise<void> {
  const { withSales } = await import("./with-sales.ts");
  await withSales(context, async (sales) => {
    const workflowIds = await found(sales, flags);
    printNote(context, `${workflowIds.length} found.`);
    const counts = { done: 0, skipped: 0, failed: 0 };
    let toldAtMs = Date.now();
    const tried = await inParallel(
      workflowIds,
      CONCURRENCY,
      async (workflowId) => {
        const one = await tryOne(workflowId, () => send(sales.operate, workflowId));
        counts[one.kind] += 1;
        if (Date.now() - toldAtMs >= PROGRESS_EVERY_MS) {
          toldAtMs = Date.now();
          printNote(context, `${summary(counts, done)} of ${workflowIds.length}`);
        }
        return one;
      },
      context.signal,
    );
    const data = {
      [done]: tried.flatMap((one) => (one.kind === "done" ? [strip(one)] : [])),
      skipped: tried.flatMap((one) => (one.kind === "skipped" ? [strip(one)] : [])),
      failed: tried.flatMap((one) => (one.kind === "failed" ? [strip(one)] : [])),
    };
    const lines = tried.map((one) => `${one.workflowId}: ${told(one, done)}`);
    printResult(context, flags.json, data, [...lines, summary(counts, done)].join("\n"));
    if (counts.failed > 0) throw new CommandFailedError("");
  });
}

async function found({ client }: Sales, flags: ManyFlags): Promise<string[]> {
  const workflowIds: string[] = [];
  try {
    const query = visibilityQuery({ ...flags, creditNotes: true, openOnly: true });
    for await (const { workflowId } of client.workflow.list({ query })) workflowIds.push(workflowId);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const grpc = [error, cause].find((one) => one instanceof Error && "details" in one && "code" in one);
    if (grpc instanceof Error && "code" in grpc && grpc.code === INVALID_ARGUMENT && "details" in grpc) {
      throw new UsageError(`Temporal does not understand the query: ${String(grpc.details)}.`, { cause: error });
    }
    throw error;
  }
  return workflowIds;
}

async function tryOne(workflowId: string, send: () => Promise<MessageReply>): Promise<Tried> {
  try {
    return { kind: "done", workflowId, message: (await send()).message };
  } catch (error) {
    const { message } = describeError(error, { withStack: false });
    // It does not wait for this, or is closed since it was found.
    const isSkipped = error instanceof Error && ["NotAllowedError", "SaleNotFoundError"].includes(error.name);
    return isSkipped
      ? { kind: "skipped", workflowId, reason: message }
      : { kind: "failed", workflowId, error: message };
  }
}

function strip<One extends Tried>({ kind: _kind, ...rest }: One): Omit<One, "kind"> {
  return rest;
}

function told(one: Tried, done: string): string {
  if (one.kind === "done") return `${done}: ${one.message}`;
  return one.kind === "skipped" ? `skipped: ${one.reason}` : `failed: ${one.error}`;
}

function summary(counts: { done: number; skipped: number; failed: number }, done: string): string {
  return `${counts.done} ${done}, ${counts.skipped} skipped, ${counts.failed} failed`;
}
