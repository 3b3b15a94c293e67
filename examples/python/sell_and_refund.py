"""Starts a sale as sell.py does, then a second one that needs an operator, cancels that, and refunds the first in full.

For a business of the simulator, or one of your tests: with a live API key it would refund a real sale. First: a worker,
for example `npm run demo -- --keep` and the `export` lines that it prints. Then
  pip install -r requirements.txt && python sell_and_refund.py PY-1001
Run again, it finds the same sale and the same credit note. What each call takes, and what is refused:
https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md
"""

import sys

from temporalio.client import Client, WithStartWorkflowOperation, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from sell import BUSINESS, TASK_QUEUE, connect, run, sell, sell_flour, workflow_id


async def refund(client: Client, number: str, credit_note: str) -> dict:
    """A sale that is closed is started again for it, by its number alone."""
    start = WithStartWorkflowOperation(
        "sale",
        {"businessId": BUSINESS, "traderInvoiceNumber": number},
        id=workflow_id("sale", number),
        task_queue=TASK_QUEUE,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    request = {"reason": "06", "traderInvoiceNumber": credit_note, "restock": True}
    return await client.execute_update_with_start_workflow(
        "refund", request, start_workflow_operation=start, result_type=dict
    )


async def answer_attentions(client: Client, number: str) -> None:
    """What an operator would do who has corrected what the message names."""
    handle = client.get_workflow_handle(workflow_id("sale", number))
    state = await handle.query("state", result_type=dict)
    for attention in state["attentions"]:
        print(f"{number} needs an operator: {attention['code']}, {attention['message']}")
        update, answer = (
            ("retry", {"code": attention["code"], "note": "corrected"})
            if "cancel" not in attention["resolvedBy"]
            else ("cancel", {"reason": "rung up by mistake"})
        )
        try:
            reply = await handle.execute_update(update, answer, result_type=dict)
            print(f"{update}: {reply['message']}")
        except WorkflowUpdateFailedError as error:
            # `error.cause.type` is "NotAllowed" where it was resolved meanwhile.
            print(f"{update}: {error.cause}")


async def main(number: str) -> None:
    client = await connect()
    await sell_flour(client, number)

    parked = await sell(client, f"{number}-X", [{"sku": "NO-SUCH", "quantity": 1, "unitPrice": 60}])
    if parked.get("attention"):
        await answer_attentions(client, f"{number}-X")

    outcome = await refund(client, number, f"CN-{number}")
    note = outcome.get("creditNote") or {}
    print(f"{number} is {outcome['stage']}: credit note {note.get('traderInvoiceNumber', 'not there yet')}")


if __name__ == "__main__":
    run(main(sys.argv[1] if len(sys.argv) > 1 else "PY-1001"))
