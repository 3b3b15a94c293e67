package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	common "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
)

const (
	encryptedEncoding = "binary/encrypted"
	keyID             = "encryption-key-id"
)

// encryptionCodec encrypts what Temporal keeps of a sale, by the keys of the workers (FISCALFLOW_PAYLOAD_KEYS). The
// first key encrypts, and all decrypt; a payload that is not encrypted is read as it is. The layout is that of Temporal's
// own samples; docs/payload-vectors.json has examples of it, which `go test` checks.
// https://github.com/fiscalflow/fiscalflow/blob/main/docs/privacy.md#encrypting-what-temporal-keeps
type encryptionCodec struct {
	first   string
	ciphers map[string]cipher.AEAD
}

// newEncryptionCodec takes keys as `id:key,id:key`, each of 32 bytes in base64.
func newEncryptionCodec(keys string) (*encryptionCodec, error) {
	codec := &encryptionCodec{ciphers: map[string]cipher.AEAD{}}
	for _, pair := range strings.Split(keys, ",") {
		id, written, _ := strings.Cut(strings.TrimSpace(pair), ":")
		key, err := base64.StdEncoding.DecodeString(written)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("payload key %q is not 32 bytes in base64", id)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if codec.ciphers[id], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		if codec.first == "" {
			codec.first = id
		}
	}
	return codec, nil
}

// encrypt makes a client encrypt what it sends, and read what is encrypted, failures among it.
func encrypt(options *client.Options, keys string) error {
	codec, err := newEncryptionCodec(keys)
	if err != nil {
		return err
	}
	options.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec)
	options.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter:          options.DataConverter,
		EncodeCommonAttributes: true,
	})
	return nil
}

func (codec *encryptionCodec) Encode(payloads []*common.Payload) ([]*common.Payload, error) {
	return each(payloads, codec.encrypted)
}

func (codec *encryptionCodec) Decode(payloads []*common.Payload) ([]*common.Payload, error) {
	return each(payloads, codec.decrypted)
}

func each(payloads []*common.Payload, turn func(*common.Payload) (*common.Payload, error)) ([]*common.Payload, error) {
	turned := make([]*common.Payload, len(payloads))
	for index, payload := range payloads {
		var err error
		if turned[index], err = turn(payload); err != nil {
			return nil, err
		}
	}
	return turned, nil
}

func (codec *encryptionCodec) encrypted(payload *common.Payload) (*common.Payload, error) {
	plain, err := proto.Marshal(payload)
	if err != nil {
		return nil, err
	}
	aead := codec.ciphers[codec.first]
	iv := make([]byte, aead.NonceSize())
	if _, err := rand.Read(iv); err != nil {
		return nil, err
	}
	return &common.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encryptedEncoding), keyID: []byte(codec.first)},
		Data:     aead.Seal(iv, iv, plain, nil),
	}, nil
}

func (codec *encryptionCodec) decrypted(payload *common.Payload) (*common.Payload, error) {
	if string(payload.Metadata[converter.MetadataEncoding]) != encryptedEncoding {
		return payload, nil
	}
	aead, known := codec.ciphers[string(payload.Metadata[keyID])]
	if !known {
		return nil, fmt.Errorf("a payload is encrypted by the key %q, which FISCALFLOW_PAYLOAD_KEYS lacks", payload.Metadata[keyID])
	}
	if len(payload.Data) < aead.NonceSize() {
		return nil, errors.New("an encrypted payload is too short")
	}
	plain, err := aead.Open(nil, payload.Data[:aead.NonceSize()], payload.Data[aead.NonceSize():], nil)
	if err != nil {
		return nil, err
	}
	decrypted := &common.Payload{}
	return decrypted, proto.Unmarshal(plain, decrypted)
}
