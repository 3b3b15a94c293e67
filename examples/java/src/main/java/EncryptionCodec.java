import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts what Temporal keeps of a sale, by the keys of the workers (FISCALFLOW_PAYLOAD_KEYS). The first key encrypts,
 * and all decrypt; a payload that is not encrypted is read as it is. The layout is that of Temporal's own samples;
 * docs/payload-vectors.json has examples of it, which {@link CheckEncryptionCodec} checks.
 * https://github.com/fiscalflow/fiscalflow/blob/main/docs/privacy.md#encrypting-what-temporal-keeps
 */
final class EncryptionCodec implements PayloadCodec {
  private static final ByteString ENCODING = ByteString.copyFromUtf8("binary/encrypted");
  private static final String KEY_ID = "encryption-key-id";
  private static final int IV_BYTES = 12;
  private static final int TAG_BITS = 128;

  private final SecureRandom random = new SecureRandom();
  private final Map<String, SecretKey> keys = new LinkedHashMap<>();

  /** Takes keys as {@code id:key,id:key}, each of 32 bytes in base64. */
  EncryptionCodec(String written) {
    for (String pair : written.trim().split("\\s*,\\s*")) {
      int colon = pair.indexOf(':');
      byte[] key = Base64.getDecoder().decode(pair.substring(colon + 1));
      keys.put(pair.substring(0, colon), new SecretKeySpec(key, "AES"));
    }
  }

  @Override
  public List<Payload> encode(List<Payload> payloads) {
    return payloads.stream().map(this::encrypted).toList();
  }

  @Override
  public List<Payload> decode(List<Payload> payloads) {
    return payloads.stream().map(this::decrypted).toList();
  }

  private Payload encrypted(Payload payload) {
    String keyId = keys.keySet().iterator().next();
    byte[] iv = new byte[IV_BYTES];
    random.nextBytes(iv);
    byte[] data = run(Cipher.ENCRYPT_MODE, keys.get(keyId), iv, payload.toByteString());
    return Payload.newBuilder()
        .putMetadata("encoding", ENCODING)
        .putMetadata(KEY_ID, ByteString.copyFromUtf8(keyId))
        .setData(ByteString.copyFrom(iv).concat(ByteString.copyFrom(data)))
        .build();
  }

  private Payload decrypted(Payload payload) {
    if (!ENCODING.equals(payload.getMetadataMap().get("encoding"))) return payload;
    String keyId = payload.getMetadataOrThrow(KEY_ID).toString(UTF_8);
    SecretKey key = keys.get(keyId);
    if (key == null) {
      String lacks = "a payload is encrypted by the key \"" + keyId + "\", which FISCALFLOW_PAYLOAD_KEYS lacks";
      throw new PayloadCodecException(lacks);
    }
    ByteString data = payload.getData();
    byte[] plain = run(Cipher.DECRYPT_MODE, key, data.substring(0, IV_BYTES).toByteArray(), data.substring(IV_BYTES));
    try {
      return Payload.parseFrom(plain);
    } catch (InvalidProtocolBufferException error) {
      throw new PayloadCodecException(error);
    }
  }

  private static byte[] run(int mode, SecretKey key, byte[] iv, ByteString input) {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, iv));
      return cipher.doFinal(input.toByteArray());
    } catch (GeneralSecurityException error) {
      throw new PayloadCodecException(error);
    }
  }
}
