// Lists OpenAI's formats without streams. Each format defines how it reads a request and writes its answer.
import type { SimulatorFormat } from '../call.ts';
import { errorBody } from '../error-bodies.ts';

type WholeFormat = Pick<SimulatorFormat, 'name' | 'path' | 'answerMembers' | 'read' | 'json'> &
  Partial<SimulatorFormat>;

export const wholeFormat = (format: WholeFormat): SimulatorFormat => ({
  requestIdHeader: 'x-request-id',
  idPrefix: '',
  streamType: '',
  keepAlive: '',
  wrongCredential: { status: 401, code: 'invalid_api_key' },
  frames: () => [],
  encode: () => '',
  error: (status, code, message) => ({ body: errorBody(status, code, message) }),
  errorFrames: () => [],
  ...format,
});
