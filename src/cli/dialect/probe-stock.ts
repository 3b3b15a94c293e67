import { operation } from "../../compliance/index.ts";
import type { Finding } from "../../dialect/compare.ts";
import { fieldsOf, findReportName } from "../../dialect/find-in-answers.ts";
import {
  type ComplianceProbe,
  findPlace,
  found,
  foundName,
  NO_SUCH_ID,
  NO_SUCH_NAME,
  send,
} from "./compliance-probe.ts";
import { findBranch, type SeenItem } from "./compliance-reads.ts";
import type { Answer } from "./prober.ts";
import { named, refusedOnly, verdictOf, type Write } from "./write.ts";

/** Searches with an item that does not exist, then one movement of one piece. */
export async function probeStock(probe: ComplianceProbe, item: SeenItem, referenceId: string): Promise<Write> {
  const write = (outcome: Write["outcome"], detail: string): Write => ({
    what: "stock movement",
    number: referenceId,
    outcome,
    detail,
  });
  const { path } = operation("adjustStock");
  const { unitPrice } = item;
  const bodyFor = (itemId: string) => ({ itemId, action: "ADD", quantity: 1, unitPrice, referenceId });
  const nothing = bodyFor(NO_SUCH_ID);
  const searched = await findPlace(
    probe,
    "stock.businessIdIn",
    async (place) => refusedOnly(await send(probe, "adjustStock", { path, body: nothing, place })),
    (answer) => verdictOf(answer) === "taken",
  );
  if (verdictOf(searched.answer) !== "taken") return write("not sent", "the API refused every body that was tried");
  const post = (body: Readonly<Record<string, unknown>>): Promise<Answer> =>
    send(probe, "adjustStock", { path, body, place: searched.place });
  const attempt = async (name: string, value: unknown): Promise<Answer> =>
    refusedOnly(await post({ ...nothing, [name]: value }));
  const strict = verdictOf(await attempt(NO_SUCH_NAME, "1")) === "refused";
  await findBranch(probe, "stock", { verdictOf, strict, send: attempt });

  const branch = foundName(probe, "stock.branch") ?? probe.configured.stock.branch;
  const wanted = probe.branches[1] ?? probe.branches[0];
  const isByAuthority = (foundName(probe, "stock.branchBy") ?? probe.configured.stock.branchBy) === "authorityId";
  const selector = isByAuthority ? wanted?.authorityId : wanted?.id;
  const isWrong = probe.findings.get("stock.branch")?.kind === "wrong";
  const isNamed = branch !== null && selector !== undefined && !isWrong;
  const answer = await post({ ...bodyFor(item.id), ...(isNamed && { [branch]: selector }) });
  if (answer.kind === "unknown") return write("unknown", answer.message);
  if (answer.kind === "refused") return write("refused", `HTTP ${answer.status}${named(answer.words, nothing)}`);
  const data = fieldsOf(fieldsOf(answer.body)["data"]);
  const report = findReportName(data);
  const reportFinding: Finding =
    report === undefined
      ? { kind: "open", evidence: "the answer holds no object with stockIo or stockMaster" }
      : { kind: "found", value: report, evidence: "the answer's object with stockIo and stockMaster" };
  probe.findings.set("stock.report", reportFinding);
  if (isNamed) noteAnsweredBranch(probe, branch, data["branchId"]);
  const { movementId } = data;
  const id = typeof movementId === "string" || typeof movementId === "number" ? { id: String(movementId) } : {};
  return { what: "stock movement", number: referenceId, outcome: "made", ...id };
}

/** The branch that was asked for comes back in the answer; another one says that the selector was ignored. */
function noteAnsweredBranch(probe: ComplianceProbe, name: string, answered: unknown): void {
  const [first, asked] = probe.branches;
  if (typeof answered !== "string" || first === undefined || asked === undefined) return;
  const isAsked = answered === asked.id || answered === asked.authorityId;
  const finding: Finding = isAsked
    ? found(name, "the branch comes back in the answer")
    : { kind: "wrong", evidence: "the answer names another branch than the one that was asked for" };
  probe.findings.set("stock.branch", finding);
}
