import { setCurrentDetails } from "@temporalio/workflow";

import { NO_BUSINESS } from "../../src/contract/index.ts";
import { needsAPerson } from "../run/details.ts";
import { attentionAttribute, businessAttribute, publishAttributes } from "../run/publish.ts";
import type { Job } from "./job.ts";

/** Shows a job to whoever looks: details always, search attributes where they changed (each change is an event). */
export function publishJob(job: Pick<Job<object>, "waitingFor" | "lines" | "attentions" | "businessId">): void {
  const paragraphs = [`**Waits for:** ${job.waitingFor}`, job.lines.map((line) => `- ${line}`).join("\n")];
  setCurrentDetails([...paragraphs, ...job.attentions.map(needsAPerson)].filter(Boolean).join("\n\n"));
  publishAttributes([
    { key: businessAttribute, value: job.businessId ?? NO_BUSINESS },
    { key: attentionAttribute, value: job.attentions[0]?.code ?? null },
  ]);
}
