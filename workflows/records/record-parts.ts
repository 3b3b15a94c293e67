import {
  asAnswered,
  type Attention,
  type DocumentRecord,
  jsonBytes,
  type RecordPart,
} from "../../src/contract/index.ts";
import { attentionKey } from "../operator/attended.ts";

/** Of one part, far below the 256 KB from where on Temporal warns. */
const MOST_BYTES = 128 * 1024;

/** What a run has told the ledger last, each part of it as JSON. */
export interface Told {
  sequence: number;
  document: string;
  movements: ReadonlyMap<string, string>;
  attentions: ReadonlyMap<string, { json: string; about: Pick<Attention, "code" | "subject"> }>;
  decisions: number;
}

/**
 * The record in parts that a payload can hold, one to be told after the other. A record that fits is one part, and says all. Of one that
 * does not, only what changed since the last one is told.
 * @param told by this run, where the ledger has that; with nothing told, all is
 */
export function partsOf(record: DocumentRecord, told: Told | undefined): RecordPart[] {
  const whole = { ...record, document: asAnswered(record.document) };
  if (jsonBytes(whole) <= MOST_BYTES) return [whole];
  const { content, document, movements, attentions, attentionChanges, decisions, ...head } = whole;
  const now = toldBy(record);
  const over = [...(told?.attentions ?? [])].flatMap(([key, { about }]) => (now.attentions.has(key) ? [] : [about]));
  const parts = new Parts(head, told?.sequence, {
    document: told?.document === now.document ? "unchanged" : document,
    ...(!told && content && { content }),
    ...(over.length > 0 && { attentionsOver: over }),
  });
  for (const change of attentionChanges) parts.add("attentionChanges", change);
  for (const decision of decisions.slice(told?.decisions)) parts.add("decisions", decision);
  for (const attention of attentions) {
    const key = keyOf(attention);
    if (told?.attentions.get(key)?.json !== now.attentions.get(key)?.json) parts.add("attentions", attention);
  }
  for (const movement of movements) {
    const { referenceId } = movement;
    if (told?.movements.get(referenceId) !== now.movements.get(referenceId)) parts.add("movements", movement);
  }
  return parts.all();
}

/** What the ledger has once all parts of the record are told. */
export function toldBy({ sequence, document, movements, attentions, decisions }: DocumentRecord): Told {
  return {
    sequence,
    document: JSON.stringify(asAnswered(document)),
    movements: new Map(movements.map((one) => [one.referenceId, JSON.stringify(one)])),
    attentions: new Map(
      attentions.map((one) => {
        const { code, subject } = one;
        const about = { code, ...(subject !== undefined && { subject }) };
        return [keyOf(one), { json: JSON.stringify(one), about }];
      }),
    ),
    decisions: decisions.length,
  };
}

function keyOf({ code, subject }: Pick<Attention, "code" | "subject">): string {
  return attentionKey(code, subject);
}

type Lists = Pick<RecordPart, "movements" | "attentions" | "attentionChanges" | "decisions">;

/** Each builds on the one before it. */
class Parts {
  readonly #head: Omit<RecordPart, keyof Lists | "document">;
  readonly #parts: RecordPart[] = [];
  #since: number | undefined;
  #last: RecordPart;
  #bytes = 0;

  constructor(
    head: Omit<RecordPart, keyof Lists | "document">,
    since: number | undefined,
    first: Pick<RecordPart, "document" | "content" | "attentionsOver">,
  ) {
    this.#head = head;
    this.#since = since;
    this.#last = this.#begin(first);
  }

  add<Name extends keyof Lists>(name: Name, one: Lists[Name][number]): void {
    const size = jsonBytes(one) + 1;
    if (this.#bytes + size > MOST_BYTES) this.#last = this.#begin({ document: "unchanged" });
    // As it is now: it may change before its part is told.
    const list: unknown[] = this.#last[name];
    list.push(JSON.parse(JSON.stringify(one)));
    this.#bytes += size;
  }

  all(): RecordPart[] {
    return this.#parts.map((part, index) =>
      index === this.#parts.length - 1 ? part : { ...part, incomplete: true as const },
    );
  }

  #begin(more: Pick<RecordPart, "document" | "content" | "attentionsOver">): RecordPart {
    const sequence = this.#head.sequence + this.#parts.length;
    const lists: Lists = { movements: [], attentions: [], attentionChanges: [], decisions: [] };
    const part: RecordPart = {
      ...this.#head,
      sequence,
      ...lists,
      ...more,
      ...(this.#since !== undefined && { since: this.#since }),
    };
    this.#since = sequence;
    this.#parts.push(part);
    this.#bytes = jsonBytes(part);
    return part;
  }
}
