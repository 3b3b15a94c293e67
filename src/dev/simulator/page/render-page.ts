import type { AuthorityStep } from "../authority-step.ts";
import type { DocumentRecord } from "../document-record.ts";
import { TRIGGERS, triggerText } from "../triggers.ts";
import type { World } from "../world.ts";
import { button, type Cell, escaped, section } from "./markup.ts";

/** Enough to see what goes on; all of them are in the books. */
const SHOWN_DOCUMENTS = 50;
const SHOWN_MOVEMENTS = 50;

const TIME = new Intl.DateTimeFormat("en-GB", { timeZone: "Africa/Nairobi", timeStyle: "medium" });

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:62rem;padding:0 1rem;color:#1c2330}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:1.8rem 0 .4rem}p{margin:.3rem 0}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .9rem .25rem 0;vertical-align:top}
th{font-weight:600;border-bottom:1px solid #b8c0cc}td{border-bottom:1px solid #e6e9ee}form{margin:0}
button{font:inherit;padding:.05rem .7rem}code{background:#f1f3f6;padding:0 .2rem}`;

/** What the simulator is, what is set now, and what can be triggered; without script. */
export function renderPage(world: World, url: string): string {
  const parts = [
    `<h1>Simulator of the Compliance API and the accounting service</h1>`,
    `<p>${escaped(url)}. Times are those of Nairobi. The page shows itself anew every ten seconds.</p>`,
    setNow(world),
    triggers(url),
    documents(world),
    items(world),
    movements(world),
    section(
      "Businesses",
      ["id", "name", "branches"],
      [...world.businesses.values()].map(businessRow),
      "There is none.",
    ),
    authority(world),
    `<h2>Controls for tests</h2><p>JSON under <code>/_simulator</code>: ${[
      "books",
      "documents",
      "calls",
      "faults",
      "purchases",
    ]
      .map((name) => `<a href="/_simulator/${name}">${name}</a>`)
      .join(", ")}.</p>`,
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="10"><title>fiscalflow simulator</title><style>${STYLE}</style></head>
<body>
${parts.join("\n")}
</body></html>
`;
}

function setNow({ faults, settings }: World): string {
  const active = faults
    .books()
    .active.map((fault): Cell[] => [triggerText(fault), `${fault.struck} so far`, button(`/end/${fault.id}`, "End")]);
  const { limitPerWindow, windowMs, latencyMs } = settings;
  const always = `${limitPerWindow} requests in ${windowMs / 1_000} s for each application; each call takes ${latencyMs} ms.`;
  return `${section("Set now", ["what", "struck", ""], active, "No trouble: everything is answered as the documents describe it.")}<p>${always}</p>`;
}

function triggers(url: string): string {
  const rows = Object.entries(TRIGGERS).map(([name, { help, times }]): Cell[] => [
    name,
    help,
    times === null ? "until ended" : times === 1 ? "once" : `${times} times`,
    button(`/trigger/${name}`, "Trigger"),
  ]);
  const command = `<p>Or: <code>fiscalflow simulator trigger NAME --url ${escaped(url)}</code></p>`;
  return section("Trouble to trigger", ["name", "what happens", "how often", ""], rows, "") + command;
}

function documents({ documents: store }: World): string {
  const all = [...store.all()].toReversed();
  const rows = all
    .slice(0, SHOWN_DOCUMENTS)
    .map(({ sale, createdAtMs, submissions, reason }: DocumentRecord): Cell[] => [
      TIME.format(createdAtMs),
      sale.traderInvoiceNumber,
      sale.type === "sale" ? "sale" : `credit note${reason === null ? "" : `, reason ${reason}`}`,
      sale.error === null ? sale.status : `${sale.status}: ${sale.error}`,
      sale.totals.total.toFixed(2),
      sale.receipt?.cuInvoiceNo,
      submissions,
      sale.callback?.status,
    ]);
  const head = ["created", "number", "what", "status", "total", "receipt", "submissions", "callback"];
  const title =
    all.length > SHOWN_DOCUMENTS ? `Documents: the latest ${SHOWN_DOCUMENTS} of ${all.length}` : "Documents";
  return section(title, head, rows, "None yet.");
}

function items({ businesses, catalogue, stock }: World): string {
  const onHand = stock.onHand();
  const rows = [...businesses.keys()].flatMap((business) =>
    catalogue.of(business).map((item): Cell[] => [
      item.sku,
      item.name,
      item.unitPrice.toFixed(2),
      item.registrationStatus,
      item.stockTracked
        ? Object.entries(onHand[item.id] ?? {})
            .map((each) => each.join(": "))
            .join(", ")
        : "not tracked",
    ]),
  );
  return section("Items", ["sku", "name", "price", "registration", "on hand"], rows, "There is none.");
}

/** By which an operator sees whether a movement of unknown outcome was applied. */
function movements({ stock }: World): string {
  const all = [...stock.movements()].toReversed();
  const rows = all
    .slice(0, SHOWN_MOVEMENTS)
    .map(({ atMs, referenceId, itemId, branchId, action, quantity, onHandBefore, onHandAfter }): Cell[] => [
      TIME.format(atMs),
      referenceId ?? "",
      itemId,
      branchId,
      `${action} ${quantity}`,
      `${onHandBefore} → ${onHandAfter}`,
    ]);
  const head = ["booked", "reference", "item", "branch", "movement", "on hand"];
  const title =
    all.length > SHOWN_MOVEMENTS
      ? `Stock movements: the latest ${SHOWN_MOVEMENTS} of ${all.length}`
      : "Stock movements";
  return section(title, head, rows, "None yet.");
}

function businessRow({
  id,
  name,
  branches,
}: {
  id: string;
  name: string;
  branches: readonly { id: string; name?: string | undefined }[];
}): Cell[] {
  return [
    id,
    name,
    branches.map((branch) => (branch.name === undefined ? branch.id : `${branch.name} (${branch.id})`)).join("; "),
  ];
}

function authority(world: World): string {
  const { default: everyOther, documents: scripted } = world.authority.scripts();
  const rows = [...Object.entries(scripted), ["every other", everyOther] as const].map(([number, steps]) => [
    number,
    steps.map(stepText).join(", then "),
  ]);
  return section("What the tax authority does", ["number", "submissions, the last repeats"], rows, "");
}

function stepText(step: AuthorityStep): string {
  const after = "afterMs" in step && step.afterMs !== undefined ? ` after ${step.afterMs / 1_000} s` : "";
  switch (step.do) {
    case "accept":
    case "cancel":
      return `${step.do}s${after}`;
    case "reject":
      return `rejects${after} (${step.reason})`;
    case "down":
      return "does not answer";
    case "answer":
      return `answers ${step.status}`;
  }
}
