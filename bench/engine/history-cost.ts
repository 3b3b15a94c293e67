import type { Client } from "@temporalio/client";

/** What one workflow costs Temporal. */
export interface HistoryCost {
  /** From its first event to its last. */
  readonly ms: number;
  readonly workflowTasks: number;
  readonly activities: number;
  readonly events: number;
  readonly bytes: number;
  /** Of what an event carries: an input, a result, an answer to an update. Temporal warns from 256 KB on. */
  readonly largestPayloadBytes: number;
  /**
   * Temporal Cloud's billable actions that a history shows: the start, each attempt of an activity, timers, signals,
   * updates and upserts of search attributes. Queries are actions too, and in no history.
   */
  readonly actions: number;
}

type Event = NonNullable<
  Awaited<ReturnType<ReturnType<Client["workflow"]["getHandle"]>["fetchHistory"]>>["events"]
>[number];

/** Reads the history of a workflow that has ended. */
export async function historyCost(client: Client, workflowId: string): Promise<HistoryCost> {
  const handle = client.workflow.getHandle(workflowId);
  const events = (await handle.fetchHistory()).events ?? [];
  const { historySize = 0 } = await handle.describe();
  const count = (is: (event: Event) => unknown): number => events.filter((event) => is(event)).length;
  return {
    ms: timeMs(events.at(-1)) - timeMs(events[0]),
    workflowTasks: count((event) => event.workflowTaskCompletedEventAttributes),
    activities: count((event) => event.activityTaskScheduledEventAttributes),
    events: events.length,
    bytes: historySize,
    largestPayloadBytes: Math.max(...payloadsOf(events).map(({ bytes }) => bytes)),
    actions: events.reduce((sum, event) => sum + actionsOf(event), 0),
  };
}

/** The size of each payload of a history, and what carries it: "createSale result". */
export function payloadsOf(events: readonly Event[]): { of: string; bytes: number }[] {
  const activities = new Map(
    events.map((event) => [
      String(event.eventId),
      event.activityTaskScheduledEventAttributes?.activityType?.name ?? undefined,
    ]),
  );
  return events.flatMap((event) =>
    Object.entries(event).flatMap(([attributes, value]) => {
      if (!attributes.endsWith("EventAttributes")) return [];
      const answered = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
      const activity = activities.get(String(answered?.scheduledEventId ?? event.eventId));
      const of = `${activity ? `${activity} ` : ""}${attributes.replace("EventAttributes", "")}`;
      return payloadSizes(value).map((bytes) => ({ of, bytes }));
    }),
  );
}

function payloadSizes(value: unknown): number[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if ("data" in value && value.data instanceof Uint8Array) return [value.data.length];
  return Object.values(value).flatMap(payloadSizes);
}

function actionsOf(event: Event): number {
  if (event.activityTaskStartedEventAttributes) return Number(event.activityTaskStartedEventAttributes.attempt ?? 1);
  const isAction =
    event.workflowExecutionStartedEventAttributes ??
    event.timerStartedEventAttributes ??
    event.workflowExecutionSignaledEventAttributes ??
    event.workflowExecutionUpdateAcceptedEventAttributes ??
    event.upsertWorkflowSearchAttributesEventAttributes;
  return isAction ? 1 : 0;
}

function timeMs(event: Event | undefined): number {
  const time = event?.eventTime;
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
}
