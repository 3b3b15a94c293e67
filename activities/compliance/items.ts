import { Context } from "@temporalio/activity";

import { classifyItem, ComplianceApiError } from "../../src/compliance/index.ts";
import {
  type CallTarget,
  type ComplianceActivities,
  isRegistered,
  type Item,
  type ItemOutcome,
  type ItemOutcomeKind,
  type ItemsRequest,
  type ItemsResult,
  type Refusal,
  REGISTERED,
  type RegisterRequest,
  type RegisterResult,
} from "../../src/contract/index.ts";
import type { OddRow } from "../../src/http/read-body.ts";
import { currentWriter, refusalOf } from "../classified-call.ts";
import { type ActivityContext, ask, type ComplianceRuntime, runtimeOf } from "./calls.ts";
import { knownItem, resolveLines } from "./catalogue.ts";
import { KeyHeldError } from "../credential-circuit-breaker.ts";
import { ageMs, pollPauseMs, stillWaiting } from "../failure.ts";

/** So many items of a catalogue are gone through at a time, however few of them are to be registered. */
const MOST_LOOKED_AT = 2_000;

/** A catalogue that is shared has no answer of its own. */
const SHARED_ANSWER = {
  operation: "listItems",
  status: 200,
  replayed: false,
  requestSentAtMs: 0,
  answeredAtMs: 0,
} as const;

/**
 * So long it is believed that an item lacks data: an operator has to correct it first, and a retry is
 * not kept waiting.
 */
const BELIEVED_MS = 30_000;

interface Lacking {
  result: RegisterResult;
  askedAtMs: number;
  untilMs: number;
}

export function createItemActivities(context: ActivityContext) {
  const { nowMs, random } = context;
  const registrations = new Map<string, ReturnType<ComplianceActivities["registerItem"]>>();
  const lacksData = new Map<string, Lacking>();

  /**
   * Unless an operator has asked to try again since, or a list that was read since shows that nothing is missing any
   * more.
   */
  function stillLacks({ connection, businessId, itemId, retriedAtMs = 0 }: RegisterRequest, lacking: Lacking): boolean {
    if (nowMs() >= lacking.untilMs || retriedAtMs > lacking.askedAtMs) return false;
    const items = context.connections.get(connection)?.catalogue.known(businessId, lacking.askedAtMs);
    const shown = items?.find((item) => item.id === itemId);
    return !shown || Object.values(shown.needs ?? {}).includes(true);
  }

  /** @throws ApplicationFailure where Temporal is to repeat the activity, or what `whenHeld` makes of a refused key */
  async function listed(
    target: CallTarget,
    sinceMs: number,
    whenHeld?: (held: KeyHeldError) => Error,
  ): Promise<Item[] | Refusal> {
    const { catalogue } = runtimeOf(context, target.connection);
    const known = catalogue.known(target.businessId, sinceMs);
    // No call: it says nothing of the key.
    if (known) return known;
    const classified = await ask(context, target, "readItems", async () => ({
      data: await catalogue.since(target.businessId, sinceMs),
      meta: SHARED_ANSWER,
    }));
    if (whenHeld && classified.error instanceof KeyHeldError) throw whenHeld(classified.error);
    return classified.data ?? refusalOf(classified);
  }

  async function lookUp(
    runtime: ComplianceRuntime,
    request: ItemsRequest,
    sinceMs: number,
    whenHeld?: (held: KeyHeldError) => Error,
  ): Promise<ItemsResult> {
    const items = await listed(request, sinceMs, whenHeld);
    if (!Array.isArray(items)) return items;
    return resolveLines(request.lines, items, runtime.catalogue.leftOut(request.businessId));
  }

  async function register(...[request]: Parameters<ComplianceActivities["registerItem"]>) {
    const runtime = runtimeOf(context, request.connection);
    const { businessId, itemId, branch, force } = request;
    const known = runtime.catalogue
      .known(businessId, nowMs() - runtime.catalogueAgeMs)
      ?.find((item) => item.id === itemId);
    if (known && isRegistered(known) && force !== true) return { kind: "registered" as const, item: knownItem(known) };
    const call = () => runtime.client.registerItem({ itemId, branch, force }, { businessId });
    const classified = await ask(context, request, "registerItem", call, classifyItem, { forceAsked: force });
    const shown: Item | undefined =
      classified.data ?? (classified.error instanceof ComplianceApiError ? classified.error.extras.item : undefined);
    if (shown) runtime.catalogue.learn(businessId, shown);
    const item = shown ? knownItem(shown) : { id: itemId, stockTracked: false, registrationStatus: "" };
    switch (classified.meaning.kind) {
      case "ok":
        return { kind: "registered" as const, item: { ...item, registrationStatus: REGISTERED } };
      case "needs-data": {
        const needs = Object.fromEntries(classified.meaning.missing.map((name) => [name, true]));
        return { kind: "needs-data" as const, item: { ...item, needs }, message: classified.message };
      }
      case "converging":
        return { kind: "converging" as const, message: classified.message };
      default:
        return refusalOf(classified);
    }
  }

  return {
    async readItems(request) {
      const runtime = runtimeOf(context, request.connection);
      const startedAtMs = nowMs();
      const sinceMs = request.notOlderThanMs ?? startedAtMs - runtime.catalogueAgeMs;
      const known = runtime.catalogue.resolve(request.businessId, request.lines, sinceMs);
      if (known?.kind === "resolved") return known;
      // A name that the catalogue at hand does not have may have been added since it was read, up to when this look was
      // asked for. Those that were asked for before a look began share it.
      const askedForAtMs = Math.min(startedAtMs, Context.current().info.currentAttemptScheduledTimestampMs);
      return await lookUp(runtime, request, known ? Math.max(sinceMs, askedForAtMs) : sinceMs);
    },

    async awaitItems(request) {
      const runtime = runtimeOf(context, request.connection);
      const pauseMs = pollPauseMs(ageMs(request.sinceMs), runtime.pollBounds, random);
      // A look within half a pause serves all who wait. A refusal would end the wait, and what waits
      // would ask at once again: the one call that is sent meanwhile is enough of that.
      const heldBack = ({ message, heldForMs }: KeyHeldError): Error =>
        stillWaiting(message, Math.round(Math.max(pauseMs, heldForMs + random() * pauseMs)));
      const result = await lookUp(runtime, request, nowMs() - pauseMs / 2, heldBack);
      const there = result.kind === "resolved" && (request.until === "known" || result.items.every(isRegistered));
      if (there || result.kind === "refused") return result;
      throw stillWaiting(`The items are not ${request.until} yet.`, pauseMs);
    },

    /** Sales that wait for the same item share one registration, and one answer that it lacks data. */
    registerItem(request) {
      const { connection, businessId, itemId, branch, force } = request;
      const key = JSON.stringify([connection, businessId, itemId, branch?.id, force]);
      const underWay = registrations.get(key);
      if (underWay) return underWay;
      const lacking = lacksData.get(key);
      if (lacking && stillLacks(request, lacking)) return Promise.resolve(lacking.result);
      const askedAtMs = nowMs();
      const registration = register(request).finally(() => registrations.delete(key));
      registration.then(
        (result) => {
          if (result.kind === "needs-data") lacksData.set(key, { result, askedAtMs, untilMs: nowMs() + BELIEVED_MS });
          else lacksData.delete(key);
        },
        () => undefined,
      );
      registrations.set(key, registration);
      return registration;
    },

    async planRegistrations(request) {
      const { catalogue } = runtimeOf(context, request.connection);
      const { connection, businessId, batchId, items: names, after = "", most, force, notOlderThanMs } = request;
      const all = await listed(request, notOlderThanMs);
      if (!Array.isArray(all)) return all;
      const looks: Look[] = names
        ? names.map((name) => namedItem(all, name, catalogue.leftOut(businessId)))
        : behind(all, after)
            .slice(0, MOST_LOOKED_AT)
            .map((item) => ({ item }));
      const items: { id: string; name: string | null }[] = [];
      const outcomes: ItemOutcome[] = [];
      let last: string | undefined;
      for (const look of looks) {
        const outcome = look.unknown ?? withoutCall(look.item, force);
        if (outcome) outcomes.push(outcome);
        else if (look.unknown || items.some(({ id }) => id === look.item.id)) continue;
        else if (items.length < most) items.push({ id: look.item.id, name: look.item.name ?? null });
        else break;
        last = look.unknown ? look.unknown.item : look.item.id;
      }
      // Repeated, it keeps the same: its rows are known by their items.
      await context.ledger.items.keep({ connection, businessId }, { batchId, outcomes, writer: currentWriter() });
      const settled: Partial<Record<ItemOutcomeKind, number>> = {};
      for (const { kind } of outcomes) settled[kind] = (settled[kind] ?? 0) + 1;
      const next = !names && last !== undefined && behind(all, last).length > 0 ? last : null;
      return { kind: "planned", items, settled, total: all.length, next };
    },
  } satisfies Partial<ComplianceActivities>;
}

/** An item of the catalogue, or a name that fits none: an item has whatever fields the service gives it. */
type Look = { item: Item; unknown?: never } | { unknown: ItemOutcome; item?: never };

/** In an order that does not change while items come and go: by their ids. */
function behind(items: readonly Item[], after: string): Item[] {
  return items.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** What is known of an item without asking for its registration; undefined if it is to be asked for. */
function withoutCall(listed: Item, force: boolean): ItemOutcome | undefined {
  const { id, name, needs } = listed;
  const item = { item: id, name: name ?? null };
  if (isRegistered(listed)) return force ? undefined : { kind: "registered-already", ...item };
  const lacking = Object.entries(needs ?? {}).flatMap(([what, lacks]) => (lacks === true ? [what] : []));
  return lacking.length > 0 && !force ? { kind: "needs-data", ...item, needs: lacking } : undefined;
}

/** By id, else external id, else SKU. A name that two items have names none: nothing is guessed. */
function namedItem(items: readonly Item[], name: string, leftOut: readonly OddRow[]): Look {
  const unknown = (reason: string): Look => ({ unknown: { kind: "unknown", item: name, reason } });
  for (const key of ["id", "externalId", "sku"] as const) {
    const named = items.filter((item) => item[key] === name);
    const [item] = named;
    if (item) return named.length === 1 ? { item } : unknown(`${named.length} items have the ${key} "${name}"`);
  }
  const odd = leftOut.find(({ names }) => Object.values(names).includes(name));
  return unknown(
    odd
      ? `the item "${name}" cannot be read: its field "${odd.field}" (${odd.problem})`
      : `no item has the id, external id or SKU "${name}"`,
  );
}
