import { Context } from "@temporalio/activity";

import { classifyItem, ComplianceApiError } from "../../src/compliance/index.ts";
import {
  type ComplianceActivities,
  isRegistered,
  type Item,
  type ItemsRequest,
  type ItemsResult,
  REGISTERED,
  type RegisterRequest,
  type RegisterResult,
} from "../../src/contract/index.ts";
import { stillWaiting } from "../failure.ts";
import { ageMs, pollPauseMs } from "../poll-schedule.ts";
import { refusalOf } from "../classified-call.ts";
import { type ActivityContext, ask, type ComplianceRuntime, runtimeOf } from "./calls.ts";
import { knownItem, resolveLines } from "./catalogue.ts";
import { KeyHeldError } from "./credential-circuit-breaker.ts";
import { readCatalogue } from "./read-catalogue.ts";

/**
 * So long it is believed that an item lacks data: an operator has to correct it first, and whoever asks to try again is
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

  /** The lines' items from a catalogue as of the given instant; thrown where it is to be tried again. */
  async function lookUp(
    runtime: ComplianceRuntime,
    request: ItemsRequest,
    sinceMs: number,
    whenHeld?: (held: KeyHeldError) => Error,
  ): Promise<ItemsResult> {
    const { catalogue } = runtime;
    const known = catalogue.resolve(request.businessId, request.lines, sinceMs);
    // No call: it says nothing of the key.
    if (known) return known;
    const classified = await readCatalogue(context, request, sinceMs);
    if (whenHeld && classified.error instanceof KeyHeldError) throw whenHeld(classified.error);
    if (!classified.data) return refusalOf(classified);
    return resolveLines(request.lines, classified.data, catalogue.leftOut(request.businessId));
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
      // Whoever looked within half a pause has looked for all who wait. A refusal would end the wait, and what waits
      // would ask at once again: the one call that is sent meanwhile is enough of that.
      const heldBack = ({ message, heldForMs }: KeyHeldError): Error =>
        stillWaiting(message, Math.round(Math.max(pauseMs, heldForMs + random() * pauseMs)));
      const result = await lookUp(runtime, request, nowMs() - pauseMs / 2, heldBack);
      const there = result.kind === "resolved" && (request.until === "known" || result.items.every(isRegistered));
      if (there || result.kind === "refused") return result;
      throw stillWaiting(`The items are not ${request.until} yet.`, pauseMs);
    },

    /** Sales that wait for the same item share one registration, and one word that it lacks data. */
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
  } satisfies Partial<ComplianceActivities>;
}
