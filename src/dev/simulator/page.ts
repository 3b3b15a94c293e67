import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Controls } from "./controls.ts";
import { inNairobi } from "./documents.ts";
import { itemsOf } from "./goods.ts";
import { TRIGGERS, triggerText } from "./triggers.ts";
import type { World } from "./world.ts";

/** Enough to see what goes on; all of them are in the books. */
const SHOWN_ROWS = 50;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:62rem;padding:0 1rem;color:#1c2330}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:1.8rem 0 .4rem}p{margin:.3rem 0}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .9rem .25rem 0;vertical-align:top}
th{font-weight:600;border-bottom:1px solid #b8c0cc}td{border-bottom:1px solid #e6e9ee}form{margin:0}
button{font:inherit;padding:.05rem .7rem}code{background:#f1f3f6;padding:0 .2rem}`;

const NAMES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
/** Not to be seen in a page, or turning the direction of what stands beside them. */
const ODD = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu;
/** Emoji and scripts such as Persian and Hindi need them. */
const NEEDED = /\p{Join_Control}|\p{Variation_Selector}/u;
const STACKED = /(\p{M}{6})\p{M}+/gu;

/** Words of others as words of a page. */
function escaped(words: string): string {
  return words
    .replaceAll(ODD, (character) => (NEEDED.test(character) ? character : "\uFFFD"))
    .replaceAll(STACKED, "$1")
    .replaceAll(/[&<>"']/g, (character) => NAMES[character] ?? character);
}

/** A button that posts to one of the page's own addresses. */
interface Button {
  address: string;
  label: string;
}
type Cell = string | number | Button | null | undefined;

/** A heading and its table; with no rows, what to say instead. */
export function section(
  title: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  none: string,
): string {
  if (rows.length === 0) return `<h2>${escaped(title)}</h2><p>${escaped(none)}</p>`;
  const heads = head.map((name) => `<th scope="col">${escaped(name)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${shown(cell)}</td>`).join("")}</tr>`).join("\n");
  return `<h2>${escaped(title)}</h2><div class="wide"><table><thead><tr>${heads}</tr></thead>\n<tbody>${body}</tbody></table></div>`;
}

function shown(cell: Cell): string {
  if (cell === null || cell === undefined) return "–";
  if (typeof cell !== "object") return escaped(String(cell));
  return `<form method="post" action="${escaped(cell.address)}"><button>${escaped(cell.label)}</button></form>`;
}

/** The newest rows of a book. */
function latest<Row>(title: string, head: readonly string[], all: readonly Row[], cells: (row: Row) => Cell[]): string {
  const which = all.length > SHOWN_ROWS ? `${title}: the latest ${SHOWN_ROWS} of ${all.length}` : title;
  return section(which, head, all.slice(-SHOWN_ROWS).toReversed().map(cells), "None yet.");
}

/** What the simulator is, what is set now, and what can be triggered; without script. */
function renderPage(world: World, url: string): string {
  const { limitPerWindow, windowMs, latencyMs } = world.settings;
  const faults = world.faults.books().active.map((fault): Cell[] => {
    return [triggerText(fault), `${fault.struck} so far`, { address: `/end/${fault.id}`, label: "End" }];
  });
  const troubles = Object.entries(TRIGGERS).map(([name, { help }]): Cell[] => {
    return [name, help, { address: `/trigger/${name}`, label: "Trigger" }];
  });
  const items = [...world.businesses.keys()].flatMap((id) => itemsOf(world, id));
  const parts = [
    `<h1>Simulator of the Compliance API and the accounting service</h1>`,
    `<p>${escaped(url)}. Times are those of Nairobi. The page shows itself anew every ten seconds.</p>`,
    section("Set now", ["what", "struck", ""], faults, "No trouble: all is answered as the documents describe it."),
    `<p>${limitPerWindow} requests in ${windowMs / 1_000} s for each application; each call takes ${latencyMs} ms.</p>`,
    section("Trouble to trigger", ["name", "what happens", ""], troubles, ""),
    `<p>Or: <code>fiscalflow simulator trigger NAME --url ${escaped(url)}</code></p>`,
    latest(
      "Documents",
      ["created", "number", "what", "status", "total", "receipt", "submissions", "callback"],
      world.documents.all(),
      ({ sale, createdAtMs, submissions, reason }) => [
        timeOf(createdAtMs),
        sale.traderInvoiceNumber,
        sale.type === "sale" ? "sale" : `credit note, reason ${reason}`,
        sale.error === null ? sale.status : `${sale.status}: ${sale.error}`,
        sale.totals.total.toFixed(2),
        sale.receipt?.cuInvoiceNo,
        submissions,
        sale.callback?.status,
      ],
    ),
    section(
      "Items",
      ["sku", "name", "price", "registration", "on hand"],
      items.map(({ sku, name, unitPrice, registrationStatus, stockTracked, onHand }) => {
        const stock = Object.entries(onHand).map((each) => each.join(": "));
        return [sku, name, unitPrice.toFixed(2), registrationStatus, stockTracked ? stock.join(", ") : "not tracked"];
      }),
      "There is none.",
    ),
    // By which an operator sees whether a movement of unknown outcome was applied.
    latest(
      "Stock movements",
      ["booked", "reference", "item", "branch", "movement", "on hand"],
      world.movements,
      ({ atMs, referenceId, itemId, branchId, action, quantity, onHandBefore, onHandAfter }) => [
        timeOf(atMs),
        referenceId ?? "",
        itemId,
        branchId,
        `${action} ${quantity}`,
        `${onHandBefore} → ${onHandAfter}`,
      ],
    ),
    `<p>Everything as JSON: <a href="/_simulator/books">books</a></p>`,
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="10"><title>fiscalflow simulator</title><style>${STYLE}</style></head>
<body>
${parts.join("\n")}
</body></html>
`;
}

function timeOf(ms: number): string {
  return inNairobi(ms).slice(11);
}

/** The page for whoever develops against the simulator, and what its buttons do: not counted, not authenticated. */
export function addPage(server: FastifyInstance, world: World, controls: Controls): void {
  // The buttons' forms have no field.
  server.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, _body, done) =>
    done(null, null),
  );
  server.get("/", async (request, reply) => {
    const html = renderPage(world, `${request.protocol}://${request.host}`);
    return await reply.type("text/html; charset=utf-8").send(html);
  });
  server.post("/trigger/:name", async (request, reply) => {
    controls.trigger(z.object({ name: z.string() }).parse(request.params).name);
    return await reply.redirect("/", 303);
  });
  server.post("/end/:id", async (request, reply) => {
    controls.removeFault(z.object({ id: z.coerce.number() }).parse(request.params).id);
    return await reply.redirect("/", 303);
  });
}
