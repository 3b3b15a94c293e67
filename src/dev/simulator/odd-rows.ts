/**
 * Rows that a list shows otherwise than the document says, by their ids: what the service itself knows of them does not
 * change.
 */
export class OddRows {
  readonly #fields = new Map<string, Readonly<Record<string, unknown>>>();

  /** @param fields take the place of the row's own; `undefined` leaves one out. Null: the row is shown as it is. */
  set(id: string, fields: Readonly<Record<string, unknown>> | null): void {
    if (fields === null) this.#fields.delete(id);
    else this.#fields.set(id, fields);
  }

  shown<Row extends object>(row: Row): Row | Record<string, unknown> {
    const fields = "id" in row && typeof row.id === "string" ? this.#fields.get(row.id) : undefined;
    return fields ? { ...row, ...fields } : row;
  }
}
