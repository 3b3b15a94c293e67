import { invalidRequest } from "./api-error.ts";
import type { ApiError } from "./api-error.ts";

/** What a key stands for: the document it made, or the rejection that left none. */
export type KeptResult = { documentId: string } | { rejection: ApiError };

export interface KeyReuse {
  atMs: number;
  operation: string;
  application: string;
  idempotencyKey: string;
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, entry]) => [key, canonical(entry)]),
  );
}

/** The key in the header, or a refusal of its form (document: 8 to 128 characters matching `^[A-Za-z0-9._:-]+$`). */
export function idempotencyKeyIn(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header !== "string" || !/^[A-Za-z0-9._:-]{8,128}$/.test(header))
    throw invalidRequest("Idempotency-Key", "must be 8 to 128 characters of A-Z a-z 0-9 . _ : -");
  return header;
}

interface Request {
  atMs: number;
  operation: string;
  application: string;
  idempotencyKey: string;
  body: unknown;
}

/** Results kept under their idempotency keys, one key space for each application and operation. */
export class IdempotencyRecords {
  readonly #kept = new Map<string, { result: KeptResult; body: string }>();
  readonly #reuses: KeyReuse[] = [];

  /** The original result of a repeated request; a body other than the original's is only noted. */
  replay(request: Request): KeptResult | undefined {
    const kept = this.#kept.get(slot(request));
    if (kept === undefined) return undefined;
    if (kept.body !== JSON.stringify(canonical(request.body))) {
      const { body: _body, ...reuse } = request;
      this.#reuses.push(reuse);
    }
    return kept.result;
  }

  keep(request: Request, result: KeptResult): void {
    this.#kept.set(slot(request), { result, body: JSON.stringify(canonical(request.body)) });
  }

  reusedWithOtherBody(): readonly KeyReuse[] {
    return this.#reuses;
  }

  /** As if every key had outlived its life. */
  forget(): void {
    this.#kept.clear();
  }
}

function slot({ application, operation, idempotencyKey }: Request): string {
  return `${application} ${operation} ${idempotencyKey}`;
}
