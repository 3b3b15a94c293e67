import type { QuotaCounts } from "../../ledger/index.ts";

interface Row {
  number: number;
  endsAtMs: number;
  lengthMs: number;
  fromHeaders: boolean;
  limit: number;
  reserved: number;
  spent: number;
  seen: number;
  inFlight: number;
  silent: number;
  strangersFor: number;
}

/** What the statements of the ledger do, by the clock of the test; `away` makes it throw. */
export function countedInMemory() {
  const rows = new Map<string, Row>();
  const state = { away: false };
  const reach = async (): Promise<void> => {
    await Promise.resolve();
    if (state.away) throw new Error("away");
  };
  const windowOf = (row: Row) => ({
    ...row,
    endsInMs: row.endsAtMs - Date.now(),
    strangers: row.strangersFor > 0 || row.seen > row.reserved,
  });
  const counts: QuotaCounts = {
    async spend({ application, reserve, believed }) {
      await reach();
      let row = rows.get(application);
      if (!row) {
        const none = { reserved: 0, spent: 0, seen: 0, inFlight: 0, silent: 0, strangersFor: 0 };
        row = { ...none, ...believed, number: 1, endsAtMs: Date.now() + believed.endsInMs };
        rows.set(application, row);
      }
      if (row.endsAtMs <= Date.now()) {
        const ended = Math.floor((Date.now() - row.endsAtMs) / row.lengthMs) + 1;
        row.strangersFor = row.seen > row.reserved ? 10 : Math.max(0, row.strangersFor - 1);
        row.endsAtMs += ended * row.lengthMs + 20;
        row.number += 2;
        Object.assign(row, { reserved: 0, spent: 0, seen: 0, inFlight: 0, silent: 0 });
      } else {
        const alone = row.strangersFor === 0 && row.seen <= row.reserved;
        const half = Math.max(1, Math.floor((row.limit - row.spent) / 2));
        if (row.spent >= row.limit - reserve || (!alone && row.inFlight >= half))
          return { granted: false, window: windowOf(row) };
      }
      row.reserved += 1;
      row.spent += 1;
      row.inFlight += 1;
      return { granted: true, window: windowOf(row), sequence: row.reserved };
    },
    async settle({ application, number, sequence, counted, unsent, edge }) {
      await reach();
      const row = rows.get(application);
      if (row?.number === number + 1) {
        row.inFlight = Math.max(0, row.inFlight - 1);
        if (unsent === true) row.spent -= 1;
        else row.silent = row.reserved;
        return windowOf(row);
      }
      if (row?.number !== number) return undefined;
      if (edge) {
        const endsAtMs = Date.now() + edge.endsInMs;
        row.endsAtMs = edge.says === "earlier" ? Math.min(row.endsAtMs, endsAtMs) : endsAtMs;
        row.lengthMs = edge.lengthMs;
      }
      if (counted) {
        row.fromHeaders = true;
        row.limit = counted.limit;
      }
      const others = Math.max(0, row.inFlight - 1);
      if (edge?.says === "next") {
        const used = counted?.used ?? 0;
        const reserved = Math.max(used, row.inFlight);
        Object.assign(row, { number: row.number + 1, reserved, seen: used, silent: 0, spent: used + others });
      } else if (unsent === true) row.spent -= 1;
      else if (!counted) row.silent = Math.max(row.silent, sequence);
      else {
        row.seen = Math.max(row.seen, counted.used);
        row.spent = others === 0 && sequence > row.silent ? row.seen : Math.max(row.spent, counted.used);
      }
      row.inFlight = others;
      return windowOf(row);
    },
  };
  return { counts, state };
}
