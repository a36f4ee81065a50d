// How a stream that broke is said: the last frame is an exception of those that a stream of Converse can have.
import { brokenStreamMessages, type EventText, type MidStreamCode } from '../../wire/index.ts';

/** As the service model of @aws-sdk/client-bedrock-runtime 3.1162 has them. */
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
