import static java.nio.charset.StandardCharsets.UTF_8;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WithStartWorkflowOperation;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowFailedException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowServiceException;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateException;
import io.temporal.client.WorkflowUpdateStage;
import io.temporal.common.converter.CodecDataConverter;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DefaultDataConverter;
import io.temporal.envconfig.ClientConfigProfile;
import io.temporal.failure.ApplicationFailure;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Starts a sale and waits for its receipt, answers what needs an operator, and refunds the sale.
 *
 * <p>First: a worker, for example {@code npm run demo -- --keep} and the {@code export} lines that it prints. Then
 * {@code mvn -q compile exec:java -Dexec.args=JAVA-1001}. Run again, it finds the same sale and the same credit note.
 *
 * <p>What each call takes, and what is refused: https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md
 */
public final class SellAndRefund {
  private static final String CONNECTION = "default";
  private static final String BUSINESS = "biz_demo";
  private static final String TASK_QUEUE = "fiscalflow";

  private final WorkflowClient client;

  private SellAndRefund(WorkflowClient client) {
    this.client = client;
  }

  private static String workflowId(String kind, String last) {
    return String.join("/", kind, CONNECTION, escaped(BUSINESS), escaped(last));
  }

  private static String escaped(String part) {
    // As encodeURIComponent does, which leaves these as they are.
    String escaped = URLEncoder.encode(part, UTF_8).replace("+", "%20").replace("%21", "!").replace("%27", "'");
    return escaped.replace("%28", "(").replace("%29", ")").replace("%7E", "~");
  }

  /** One number is one sale, however often it is started. */
  private Map<String, Object> sell(String number, Map<String, Object> line) {
    WorkflowStub sale = newSale(number, WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE);
    Object input = Map.of("businessId", BUSINESS, "traderInvoiceNumber", number, "lines", List.of(line));
    try {
      return startAndUpdate(sale, input, "outcome", Map.of("waitSeconds", 20));
    } catch (WorkflowServiceException error) {
      if (!isAlreadyStarted(error)) throw error;
      // It is closed: its result is the outcome.
      return outcome(client.newUntypedWorkflowStub(workflowId("sale", number)).getResult(Map.class));
    }
  }

  private static boolean isAlreadyStarted(Throwable error) {
    if (error == null) return false;
    if (error instanceof WorkflowExecutionAlreadyStarted) return true;
    if (error instanceof StatusRuntimeException refused) return refused.getStatus().getCode() == Code.ALREADY_EXISTS;
    return isAlreadyStarted(error.getCause());
  }

  /** A sale that is closed is started again for it, by its number alone. */
  private Map<String, Object> refund(String number, String creditNote) {
    WorkflowStub sale = newSale(number, WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE);
    Object request = Map.of("reason", "06", "traderInvoiceNumber", creditNote, "restock", true);
    Object input = Map.of("businessId", BUSINESS, "traderInvoiceNumber", number);
    return startAndUpdate(sale, input, "refund", request);
  }

  private WorkflowStub newSale(String number, WorkflowIdReusePolicy reuse) {
    return client.newUntypedWorkflowStub(
        "sale",
        WorkflowOptions.newBuilder()
            .setWorkflowId(workflowId("sale", number))
            .setTaskQueue(TASK_QUEUE)
            .setWorkflowIdReusePolicy(reuse)
            .setWorkflowIdConflictPolicy(WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING)
            .build());
  }

  private static Map<String, Object> startAndUpdate(WorkflowStub sale, Object input, String update, Object request) {
    return outcome(
        sale.executeUpdateWithStart(
            UpdateOptions.newBuilder(Map.class)
                .setUpdateName(update)
                .setWaitForStage(WorkflowUpdateStage.COMPLETED)
                .build(),
            new Object[] {request},
            new Object[] {input}));
  }

  /** What an operator would do who has corrected what the message names. */
  private void answerAttentions(String number) {
    WorkflowStub sale = client.newUntypedWorkflowStub(workflowId("sale", number));
    Map<String, Object> state = outcome(sale.query("state", Map.class));
    for (Object one : (List<?>) state.get("attentions")) {
      Map<String, Object> attention = outcome(one);
      Object code = attention.get("code");
      System.out.printf("%s needs an operator: %s, %s%n", number, code, attention.get("message"));
      boolean canCancel = ((List<?>) attention.get("resolvedBy")).contains("cancel");
      String update = canCancel ? "cancel" : "retry";
      Map<String, Object> answer =
          canCancel ? Map.of("reason", "rung up by mistake") : Map.of("code", code, "note", "corrected");
      try {
        System.out.printf("%s: %s%n", update, outcome(sale.update(update, Map.class, answer)).get("message"));
      } catch (WorkflowUpdateException error) {
        // Its cause has the type "NotAllowed" where it was resolved meanwhile.
        System.out.printf("%s: %s%n", update, error.getCause().getMessage());
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> outcome(Object json) {
    return (Map<String, Object>) json;
  }

  private static Map<String, Object> part(Map<String, Object> outcome, String name) {
    return outcome.get(name) == null ? Map.of() : outcome(outcome.get(name));
  }

  private void run(String number) {
    Map<String, Object> sold = sell(number, Map.of("sku", "UNGA-2KG", "quantity", 1, "unitPrice", 198));
    Object receipt = part(sold, "receipt").getOrDefault("cuInvoiceNo", "not there yet");
    System.out.printf("%s is %s: receipt %s%n", number, sold.get("stage"), receipt);

    Map<String, Object> parked = sell(number + "-X", Map.of("sku", "NO-SUCH", "quantity", 1, "unitPrice", 60));
    if (parked.get("attention") != null) answerAttentions(number + "-X");

    Map<String, Object> refunded = refund(number, "CN-" + number);
    Map<String, Object> note = part(refunded, "creditNote");
    Object noteNumber = note.getOrDefault("traderInvoiceNumber", "not there yet");
    System.out.printf("%s is %s: credit note %s%n", number, refunded.get("stage"), noteNumber);
  }

  /** Encrypts by the workers' keys, if they have any. */
  private static WorkflowClientOptions encrypting(WorkflowClientOptions options) {
    String keys = System.getenv().getOrDefault("FISCALFLOW_PAYLOAD_KEYS", "");
    if (keys.isEmpty()) return options;
    List<PayloadCodec> codecs = List.of(new EncryptionCodec(keys));
    DataConverter converter = new CodecDataConverter(DefaultDataConverter.newDefaultInstance(), codecs, true);
    return WorkflowClientOptions.newBuilder(options).setDataConverter(converter).build();
  }

  public static void main(String[] arguments) throws Exception {
    ClientConfigProfile profile = ClientConfigProfile.load();
    WorkflowServiceStubs service = WorkflowServiceStubs.newServiceStubs(profile.toWorkflowServiceStubsOptions());
    try {
      WorkflowClient client = WorkflowClient.newInstance(service, encrypting(profile.toWorkflowClientOptions()));
      new SellAndRefund(client).run(arguments.length > 0 ? arguments[0] : "JAVA-1001");
    } catch (WorkflowFailedException | WorkflowUpdateException error) {
      // InvalidInput, Conflict or NotAllowed; the message says what to do.
      Throwable cause = error.getCause();
      String type = cause instanceof ApplicationFailure failure ? failure.getType() : "Failed";
      System.err.printf("%s: %s%n", type, cause == null ? error.getMessage() : cause.getMessage());
      System.exit(1);
    } finally {
      service.shutdown();
      service.awaitTermination(5, TimeUnit.SECONDS);
    }
  }
}
