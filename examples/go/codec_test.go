package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	common "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
)

type written struct {
	Metadata map[string]string `json:"metadata"`
	Data     string            `json:"data"`
}

func (one written) payload(data []byte) *common.Payload {
	payload := &common.Payload{Metadata: map[string][]byte{}, Data: data}
	for name, text := range one.Metadata {
		payload.Metadata[name] = []byte(text)
	}
	return payload
}

// Whether this codec reads what the workers write.
func TestPublishedExamples(t *testing.T) {
	file, err := os.ReadFile("../../docs/payload-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var published struct {
		Vectors []struct {
			What      string  `json:"what"`
			Key       string  `json:"key"`
			Payload   written `json:"payload"`
			Encrypted written `json:"encrypted"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(file, &published); err != nil || len(published.Vectors) == 0 {
		t.Fatal("no examples", err)
	}
	for _, vector := range published.Vectors {
		t.Run(vector.What, func(t *testing.T) {
			codec, err := newEncryptionCodec(vector.Key)
			if err != nil {
				t.Fatal(err)
			}
			data, err := base64.StdEncoding.DecodeString(vector.Encrypted.Data)
			if err != nil {
				t.Fatal(err)
			}
			plain, encrypted := vector.Payload.payload([]byte(vector.Payload.Data)), vector.Encrypted.payload(data)
			again, err := codec.Encode([]*common.Payload{plain})
			if err != nil {
				t.Fatal(err)
			}
			if string(again[0].Metadata[keyID]) != vector.Encrypted.Metadata[keyID] {
				t.Error("encrypted by another key:", again[0].Metadata)
			}
			read, err := codec.Decode([]*common.Payload{encrypted, plain, again[0]})
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range read {
				if !proto.Equal(one, plain) {
					t.Errorf("read %v instead of %v", one, plain)
				}
			}
		})
	}

	t.Run("an unknown key is named", func(t *testing.T) {
		one, _ := newEncryptionCodec(published.Vectors[0].Key)
		other, _ := newEncryptionCodec(published.Vectors[2].Key)
		payloads, err := one.Encode([]*common.Payload{{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Decode(payloads); err == nil || !strings.Contains(err.Error(), `"2026"`) {
			t.Error("not refused:", err)
		}
	})
}
