// Writes the end of a stream that broke. The last frame is one of the exceptions that a Converse stream can have.
import { brokenStreamMessages, type EventText, type MidStreamCode } from '../../wire/index.ts';

/** Names of the exceptions, from the service model of @aws-sdk/client-bedrock-runtime 3.1162. */
const exceptions: Readonly<Record<MidStreamCode, string>> = {
  no_available_provider: 'modelStreamErrorException',
  request_deadline_exceeded: 'modelStreamErrorException',
  rate_limited: 'throttlingException',
  invalid_request: 'validationException',
  schema_validation_failed: 'validationException',
};

export const brokenStreamException = (
  code: MidStreamCode,
  message: string = brokenStreamMessages[code],
): EventText => ({
  name: exceptions[code],
  text: JSON.stringify({ message, code }),
});
