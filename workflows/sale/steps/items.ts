import {
  type Branch,
  fewOf,
  goodsOf,
  isRegistered,
  type ItemsResult,
  type KnownItem,
  type RegisterResult,
  type ResolvedLine,
  resolvedLines,
  type SaleDocument,
  type SaleLineInput,
} from "../../../src/contract/index.ts";
import { BetweenTries, callWithEscalation } from "../../calls/between-tries.ts";
import { type AttentionList, park } from "../../operator/attention-list.ts";
import type { Calls } from "../../proxies.ts";
import type { SaleContext } from "../state.ts";

export interface ResolvedLines {
  lines: ResolvedLine[];
  items: KnownItem[];
}

/**
 * By the catalogue of the process that prepared the sale, which costs no call, else through the API. A line that names
 * no item, or two, waits until the catalogue is right.
 */
export async function resolveItems(
  context: SaleContext,
  lines: SaleLineInput[],
  known: KnownItem[] | undefined,
): Promise<ResolvedLines> {
  const { run, calls, target } = context;
  let items = known;
  let notOlderThanMs: number | undefined;
  while (!items) {
    const request = { ...target, lines, notOlderThanMs };
    const result = await callWithEscalation(run, () =>
      calls.read.readItems("Find the items of the lines in the catalogue", request),
    );
    if (result.kind === "resolved") {
      items = result.items;
      break;
    }
    const message = fewOf(result.unknown.map(({ line, reason }) => `lines[${line}]: ${reason}`)).join("; ");
    const sinceMs = Date.now();
    const summary = "Wait until the catalogue names every item: each attempt is one look";
    const asked = { ...request, until: "known" as const, sinceMs };
    // What it finds is taken, and not looked for again: lists that contradict each other would keep the run going round.
    const wake = async (): Promise<boolean> => {
      const seen = await callWithEscalation(run, () => calls.wait.awaitItems(summary, asked));
      if (seen.kind === "resolved") items = seen.items;
      return seen.kind === "resolved";
    };
    const verdict = await park(run, { code: "item-unknown", message }, { wake });
    notOlderThanMs = verdict === "retry" ? Date.now() : undefined;
  }
  return { items, lines: resolvedLines(lines, items) };
}

function unregistered(items: readonly KnownItem[]): KnownItem[] {
  const byId = new Map(items.filter((item) => !isRegistered(item)).map((item) => [item.id, item]));
  return [...byId.values()];
}

type Registering = Pick<SaleContext, "target" | "branch"> & { run: AttentionList; calls: RegisteringCalls };
type Looking = Pick<Registering, "run" | "target"> & { calls: Pick<RegisteringCalls, "read"> };

export interface RegisteringCalls extends Pick<Calls, "wait"> {
  read: Pick<Calls["read"], "readItems" | "readBranch">;
  convergingWrite: Pick<Calls["convergingWrite"], "registerItem">;
}

/** An item that lacks data waits until it shows as registered, by this run or by anybody. */
export async function registerMissing(
  context: Registering,
  items: readonly KnownItem[],
  onMissing: (waitingFor: string) => void,
): Promise<void> {
  const missing = unregistered(items);
  if (missing.length === 0) return;
  onMissing(`the registration of ${fewOf(missing.map((item) => item.name ?? item.id)).join(", ")}`);
  await Promise.all(missing.map((item) => registerItem(context, item)));
}

async function registerItem(context: Registering, item: KnownItem): Promise<void> {
  const { run, calls, target, branch } = context;
  const betweenTries = new BetweenTries(run);
  try {
    for (;;) {
      const result = await callWithEscalation(run, () =>
        calls.convergingWrite.registerItem(`Register ${item.name ?? item.id}`, { ...target, itemId: item.id, branch }),
      );
      switch (result.kind) {
        case "registered":
          return;
        case "needs-data":
          if (await parkUntilRegistered(context, item, result)) return;
          break;
        case "converging":
          if (await showsRegistered(context, item.id)) return;
          await betweenTries.waitAfterLostAnswer(`The registration of ${item.name ?? item.id}`, item.id);
      }
    }
  } finally {
    betweenTries.clearLostAnswer();
  }
}

/** False if it is to be looked at again. */
async function parkUntilRegistered(
  { run, calls, target }: Registering,
  { id, name }: KnownItem,
  result: Extract<RegisterResult, { kind: "needs-data" }>,
): Promise<boolean> {
  const needs = lackingData(result.item);
  const message = lackingInWords(result);
  const asked = { ...target, lines: [lineOf(id)], until: "registered" as const, sinceMs: Date.now() };
  const summary = `Wait for the registration of ${name ?? id}: each attempt is one look`;
  // A refusal is shown beside it, and waited for there: asked for again, the item would lack the same data at once, and
  // its next look be refused, without a pause.
  const wake = async (): Promise<boolean> =>
    areRegistered(await callWithEscalation(run, () => calls.wait.awaitItems(summary, asked)));
  const attention = { code: "item-needs-data", subject: id, message, evidence: { needs } } as const;
  return (await park(run, attention, { wake })) === "woken";
}

/**
 * After a rejection. True if an item was registered that this sale has not corrected before, so that a list which
 * lags behind cannot keep the document going round.
 */
export async function fixItems(
  context: SaleContext,
  document: SaleDocument,
  fixedBefore: Set<string>,
): Promise<boolean> {
  const { run, calls, target } = context;
  const lines = goodsOf(document).map(({ itemId }) => lineOf(itemId));
  const notOlderThanMs = Date.now();
  const read = await callWithEscalation(run, () =>
    calls.read.readItems("Look whether the rejected items are registered", { ...target, lines, notOlderThanMs }),
  );
  if (read.kind !== "resolved") return false;
  const missing = unregistered(read.items).filter((item) => !fixedBefore.has(item.id));
  if (missing.length === 0) return false;
  await registerMissing(context, missing, (waitingFor) => run.moveTo("registering", waitingFor));
  for (const item of missing) fixedBefore.add(item.id);
  return true;
}

/** Both names of the branch: a dialect may want either. None means the business's first branch. */
export async function resolveBranch(
  { run, calls, target }: Looking,
  branch: string | undefined,
): Promise<Branch | undefined> {
  if (branch === undefined) return undefined;
  const asked = { ...target, branch };
  return (await callWithEscalation(run, () => calls.read.readBranch(`Find the branch ${branch}`, asked))).branch;
}

export async function showsRegistered({ run, calls, target }: Looking, itemId: string): Promise<boolean> {
  const asked = { ...target, lines: [lineOf(itemId)], notOlderThanMs: Date.now() };
  const look = () => calls.read.readItems("Look whether the item is registered", asked);
  return areRegistered(await callWithEscalation(run, look));
}

function lineOf(itemId: string): SaleLineInput {
  return { itemId, quantity: 1, unitPrice: 0 };
}

function areRegistered(result: ItemsResult): boolean {
  return result.kind === "resolved" && result.items.every(isRegistered);
}

export function lackingInWords({
  item,
  message,
}: Pick<Extract<RegisterResult, { kind: "needs-data" }>, "item" | "message">): string {
  return `${item.name ?? item.id} (${item.id}) lacks ${lackingData(item).join(" and ")}: ${message}`;
}

export function lackingData({ needs }: Pick<KnownItem, "needs">): string[] {
  return Object.entries(needs ?? {}).flatMap(([name, lacks]) => (lacks ? [name] : []));
}
