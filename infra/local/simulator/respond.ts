// An answer in the form the request asks for.
import type { Call } from './call.ts';
import { type Completion, completionJson } from './completion.ts';
import { framesOf, streamSteps } from './frames.ts';
import { json, type Steps } from './step.ts';

export const respond = (call: Call, completion: Completion): Steps =>
  call.request.stream === true ? streamSteps(call, framesOf(call, completion)) : json(200, completionJson(completion));
