// Replaces the SDK's protocol of services with JSON. The SDK walks over each value by schema, which takes a sixth of
// the processor time of a small request. This protocol is for clients whose requests contain no times and whose bytes
// serialize themselves. Errors are read as in the SDK.
import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols';
import { NormalizedSchema } from '@smithy/core/schema';

type Settings = ConstructorParameters<typeof AwsJson1_0Protocol>[0];

/** Answers of `operations` are used as plain JSON. Answers of other operations are read by schema. */
export const plainJsonProtocol = (operations: readonly string[]) =>
  class extends AwsJson1_0Protocol {
    constructor(settings: Settings) {
      super(settings);
      const plain = new Set<string | undefined>(operations.map((name) => `${name}Output`));
      let text = '';
      this.serializer = {
        setSerdeContext() {},
        write(_schema, value) {
          text = JSON.stringify(value);
        },
        flush: () => text,
      };
      const bySchema = this.deserializer;
      this.deserializer = {
        setSerdeContext: (context) => bySchema.setSerdeContext(context),
        read: (schema, data) =>
          plain.has(NormalizedSchema.of(schema).getName()) ? JSON.parse(textOf(data)) : bySchema.read(schema, data),
      };
    }
  };

const textOf = (data: string | Uint8Array): string =>
  typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
