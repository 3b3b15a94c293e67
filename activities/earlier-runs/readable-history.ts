import type { WorkflowHandle } from "@temporalio/client";
import type { LoadedDataConverter, Payload } from "@temporalio/common";

type History = Awaited<ReturnType<WorkflowHandle["fetchHistory"]>>;

/** The part of a history that tells what was asked of the API and what came of it, in order. */
export type ReadableEvent =
  | { kind: "scheduled"; eventId: number; atMs: number; activity: string; input: unknown }
  | { kind: "completed"; scheduledEventId: number; atMs: number; result: unknown }
  | { kind: "update"; name: string; input: unknown; atMs: number };

export async function readableHistory(history: History, converter: LoadedDataConverter): Promise<ReadableEvent[]> {
  const events: ReadableEvent[] = [];
  const first = (payloads: { payloads?: Payload[] | null } | null | undefined): Promise<unknown> =>
    decoded(payloads?.payloads?.[0], converter);
  for (const event of history.events ?? []) {
    const atMs = Number(event.eventTime?.seconds ?? 0) * 1000 + Math.floor((event.eventTime?.nanos ?? 0) / 1e6);
    const scheduled = event.activityTaskScheduledEventAttributes;
    const completed = event.activityTaskCompletedEventAttributes;
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
    if (scheduled) {
      const activity = scheduled.activityType?.name ?? "";
      events.push({
        kind: "scheduled",
        eventId: Number(event.eventId),
        atMs,
        activity,
        input: await first(scheduled.input),
      });
    } else if (completed) {
      const scheduledEventId = Number(completed.scheduledEventId);
      events.push({ kind: "completed", scheduledEventId, atMs, result: await first(completed.result) });
    } else if (update) {
      events.push({ kind: "update", name: update.name ?? "", input: await first(update.args), atMs });
    }
  }
  return events;
}

/** Undefined where there is none, or where nobody can read it. */
async function decoded(payload: Payload | undefined, converter: LoadedDataConverter): Promise<unknown> {
  if (!payload) return undefined;
  let [readable] = [payload];
  try {
    for (const codec of converter.payloadCodecs.toReversed()) [readable = readable] = await codec.decode([readable]);
    return converter.payloadConverter.fromPayload(readable);
  } catch {
    return undefined;
  }
}
