import { plainText } from "../../contract/plain-text.ts";
import type { Days } from "../../ledger/index.ts";
import type { CliContext } from "../context.ts";
import { BYTE_ORDER_MARK } from "../csv.ts";
import { formatOf } from "../format.ts";
import { printNote } from "../output.ts";
import { standingOf } from "../report/period.ts";
import { configuredSeller } from "../report/seller-of.ts";
import { refuseExisting, writeResult } from "../whole-file.ts";
import { withLedger } from "../with-ledger.ts";
import type { ListHead, Owner, PeriodList } from "./list.ts";
import type { ListFlags } from "./register-list.ts";
import { renderCsv, renderJson, renderTable } from "./render.ts";

/** Writes the list as it is read, to standard output or to a file. */
export async function runList<One extends Owner<Row>, Row>(
  context: CliContext,
  list: PeriodList<One, Row>,
  { kind, days, flags }: { kind: "day" | "month" | "period"; days: Days; flags: ListFlags },
): Promise<void> {
  const { bom = false, out, force = false, connection, business: businessId } = flags;
  const format = formatOf(flags, { ".csv": "csv", ".txt": "text" });
  const [csv, json] = [format === "csv", format === "json"];
  if (out !== undefined && !force) await refuseExisting(out);
  const madeAtMs = Date.now();
  const standing = standingOf({ kind, ...days }, madeAtMs);
  await withLedger(
    context,
    async (ledger, config) => {
      await list.refuseUnknown(ledger, config, flags);
      await list.read(ledger, { days, connection, businessId }, async (owners) => {
        const head: ListHead = { days, madeAtMs, standing, sellerOf: configuredSeller(config) };
        // The page for people says it itself.
        if (standing !== undefined && (csv || json)) printNote(context, standing);
        await writeResult(context, flags, rendered(list, { csv, json, bom }, head, owners));
        if (csv) for (const note of notesOf(list, owners)) printNote(context, note);
        const absent = list.absentNote(config, flags, owners);
        if (absent !== undefined) printNote(context, absent);
      });
    },
    { forMachines: csv || json },
  );
}

async function* rendered<One extends Owner<Row>, Row>(
  list: PeriodList<One, Row>,
  { csv, json, bom }: { csv: boolean; json: boolean; bom: boolean },
  head: ListHead,
  owners: readonly One[],
): AsyncGenerator<string> {
  if (bom) yield BYTE_ORDER_MARK;
  if (csv) yield* renderCsv(list, head, owners);
  else if (json) yield* renderJson(list, head, owners);
  else for await (const piece of renderTable(list, head, owners)) yield plainText(piece);
}

function notesOf<One extends Owner<Row>, Row>(list: PeriodList<One, Row>, owners: readonly One[]): string[] {
  return owners.flatMap((owner) => {
    const name = owners.length > 1 ? `${list.nameOf(owner)}: ` : "";
    const asOf = list.asOf ? [`${list.asOf(owner)}.`] : [];
    return [...asOf, ...list.notesOf(owner)].map((note) => `Note: ${name}${note}`);
  });
}
