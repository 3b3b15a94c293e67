// Starts a sale and waits for its receipt, answers what needs an operator, and refunds the sale.
//
// First: a worker, for example `npm run demo -- --keep` and the `export` lines that it prints. Then
//
//	go run . GO-1001
//
// Run again, it finds the same sale and the same credit note. What each call takes, and what is refused:
// https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/temporal"
)

const (
	connection = "default"
	business   = "biz_demo"
	taskQueue  = "fiscalflow"
)

type object = map[string]any

type document struct {
	TraderInvoiceNumber string `json:"traderInvoiceNumber"`
}

// outcome has what is used here of packages/client/schema/answer.outcome.json.
type outcome struct {
	Stage   string `json:"stage"`
	Receipt *struct {
		CuInvoiceNo string `json:"cuInvoiceNo"`
	} `json:"receipt"`
	CreditNote *document  `json:"creditNote"`
	Attention  *attention `json:"attention"`
}

type attention struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	ResolvedBy []string `json:"resolvedBy"`
}

func workflowID(kind, last string) string {
	// As encodeURIComponent does, which leaves these as they are.
	left := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	escape := func(part string) string { return left.Replace(url.QueryEscape(part)) }
	return strings.Join([]string{kind, connection, escape(business), escape(last)}, "/")
}

// sell starts a sale, or finds the one that has the number: one number is one sale, however often it is started.
func sell(ctx context.Context, c client.Client, number string, lines []object) (result outcome, err error) {
	start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID:                       workflowID("sale", number),
		TaskQueue:                taskQueue,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, "sale", object{"businessId": business, "traderInvoiceNumber": number, "lines": lines})
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName:   "outcome",
			Args:         []any{object{"waitSeconds": 20}},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	var known *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &known) {
		// It is closed: its result is the outcome.
		return result, c.GetWorkflow(ctx, workflowID("sale", number), "").Get(ctx, &result)
	}
	if err != nil {
		return result, err
	}
	err = handle.Get(ctx, &result)
	return result, err
}

// refund reverses a sale in full. One that is closed is started again for it, by its number alone.
func refund(ctx context.Context, c client.Client, number, creditNote string) (result outcome, err error) {
	start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID:                       workflowID("sale", number),
		TaskQueue:                taskQueue,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, "sale", object{"businessId": business, "traderInvoiceNumber": number})
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName:   "refund",
			Args:         []any{object{"reason": "06", "traderInvoiceNumber": creditNote, "restock": true}},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return result, err
	}
	err = handle.Get(ctx, &result)
	return result, err
}

// answerAttentions does what an operator would do who has corrected what the message names.
func answerAttentions(ctx context.Context, c client.Client, number string) error {
	id := workflowID("sale", number)
	answer, err := c.QueryWorkflow(ctx, id, "", "state")
	if err != nil {
		return err
	}
	var state struct {
		Attentions []attention `json:"attentions"`
	}
	if err := answer.Get(&state); err != nil {
		return err
	}
	for _, attention := range state.Attentions {
		fmt.Printf("%s needs an operator: %s, %s\n", number, attention.Code, attention.Message)
		update, payload := "retry", object{"code": attention.Code, "note": "corrected"}
		if strings.Contains(strings.Join(attention.ResolvedBy, " "), "cancel") {
			update, payload = "cancel", object{"reason": "rung up by mistake"}
		}
		handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: update, Args: []any{payload}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		var reply struct {
			Message string `json:"message"`
		}
		if err == nil {
			err = handle.Get(ctx, &reply)
		}
		var refused *temporal.ApplicationError
		if errors.As(err, &refused) {
			// Its type is "NotAllowed" where it was resolved meanwhile.
			reply.Message = refused.Message()
		} else if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", update, reply.Message)
	}
	return nil
}

func run(ctx context.Context, number string) error {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return err
	}
	if keys := os.Getenv("FISCALFLOW_PAYLOAD_KEYS"); keys != "" {
		if err := encrypt(&options, keys); err != nil {
			return err
		}
	}
	c, err := client.Dial(options)
	if err != nil {
		return err
	}
	defer c.Close()

	sold, err := sell(ctx, c, number, []object{{"sku": "UNGA-2KG", "quantity": 1, "unitPrice": 198}})
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		// InvalidInput, Conflict or NotAllowed; the message says what to do.
		return fmt.Errorf("%s: %s: %s", number, refused.Type(), refused.Message())
	}
	if err != nil {
		return err
	}
	receipt := "not there yet"
	if sold.Receipt != nil {
		receipt = sold.Receipt.CuInvoiceNo
	}
	fmt.Printf("%s is %s: receipt %s\n", number, sold.Stage, receipt)

	parked, err := sell(ctx, c, number+"-X", []object{{"sku": "NO-SUCH", "quantity": 1, "unitPrice": 60}})
	if err != nil {
		return err
	}
	if parked.Attention != nil {
		if err := answerAttentions(ctx, c, number+"-X"); err != nil {
			return err
		}
	}

	refunded, err := refund(ctx, c, number, "CN-"+number)
	if err != nil {
		return err
	}
	note := "not there yet"
	if refunded.CreditNote != nil {
		note = refunded.CreditNote.TraderInvoiceNumber
	}
	fmt.Printf("%s is %s: credit note %s\n", number, refunded.Stage, note)
	return nil
}

func main() {
	log.SetFlags(0)
	number := "GO-1001"
	if len(os.Args) > 1 {
		number = os.Args[1]
	}
	if err := run(context.Background(), number); err != nil {
		log.Fatal(err)
	}
}
