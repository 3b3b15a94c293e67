import { z } from "zod";
import { refundRequestSchema } from "../../contract/schema/index.ts";
import { ATTENTION_CODES } from "../../contract/index.ts";
import { faultSchema, scenarioSchema } from "../simulator/index.ts";

const count = z.number().int().min(0);

/** What a sale must have come to at the end; the API calls are not compared where they are left out. */
const expectedSchema = z.strictObject({
  stage: z.enum(["completed", "credited"]),
  // How often a document is looked at depends on the machine's pace; everything else is exact.
  apiCalls: z.union([count, z.strictObject({ atLeast: count, atMost: count })]).optional(),
  // What it then needs an operator for, because the example is there to show it.
  attention: z.enum(ATTENTION_CODES).optional(),
});

const refundSchema = z.strictObject({ invoice: z.string().min(1), request: refundRequestSchema });

/** `examples/scenario.json`: what the examples meet, and what must have become of them. */
export const scenarioFileSchema = z.strictObject({
  simulator: scenarioSchema,
  /** What goes wrong at the simulator, from the start. */
  faults: z.array(faultSchema).default([]),
  refunds: z.array(refundSchema).default([]),
  expected: z.record(z.string(), expectedSchema).default({}),
});

export type ScenarioFile = z.infer<typeof scenarioFileSchema>;
export type Expected = z.infer<typeof expectedSchema>;
export type Refund = z.infer<typeof refundSchema>;
