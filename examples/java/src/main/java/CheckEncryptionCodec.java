import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodecException;
import java.io.File;
import java.util.Base64;
import java.util.List;

/**
 * Checks whether the codec reads what the workers write: {@code mvn -q compile exec:java
 * -Dexec.mainClass=CheckEncryptionCodec}.
 */
public final class CheckEncryptionCodec {
  public static void main(String[] arguments) throws Exception {
    JsonNode vectors = new ObjectMapper().readTree(new File("../../docs/payload-vectors.json")).get("vectors");
    for (JsonNode vector : vectors) {
      JsonNode plain = vector.get("payload");
      JsonNode encrypted = vector.get("encrypted");
      Payload expected = payload(plain, ByteString.copyFromUtf8(plain.get("data").asText()));
      byte[] data = Base64.getDecoder().decode(encrypted.get("data").asText());
      EncryptionCodec codec = new EncryptionCodec(vector.get("key").asText());
      Payload again = codec.encode(List.of(expected)).get(0);
      Payload published = payload(encrypted, ByteString.copyFrom(data));
      check(again.getMetadataMap().equals(published.getMetadataMap()), vector);
      for (Payload read : codec.decode(List.of(published, expected, again))) check(read.equals(expected), vector);
    }
    EncryptionCodec one = new EncryptionCodec(vectors.get(0).get("key").asText());
    EncryptionCodec other = new EncryptionCodec(vectors.get(2).get("key").asText());
    try {
      other.decode(one.encode(List.of(Payload.getDefaultInstance())));
      throw new AssertionError("an unknown key is not refused");
    } catch (PayloadCodecException refused) {
      System.out.printf("%d examples are read; %s%n", vectors.size(), refused.getMessage());
    }
  }

  private static Payload payload(JsonNode written, ByteString data) {
    Payload.Builder payload = Payload.newBuilder().setData(data);
    written
        .get("metadata")
        .fields()
        .forEachRemaining(one -> payload.putMetadata(one.getKey(), ByteString.copyFromUtf8(one.getValue().asText())));
    return payload.build();
  }

  private static void check(boolean isSo, JsonNode vector) {
    if (!isSo) throw new AssertionError("not read: " + vector.get("what"));
  }
}
