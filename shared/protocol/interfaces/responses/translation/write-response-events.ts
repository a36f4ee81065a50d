// Writes the parts of an answer as events of Responses: a client gets the events, or the response that they make.

import { type HubPart, type PartOf, tokensOf } from '../../../hub/index.ts';
import type { TokenReport } from '../../../wire/index.ts';
import { openCallItems } from './call-items.ts';
import { openContentItems } from './content-items.ts';
import { createOpenItem } from './open-item.ts';
import { createOutputItems, type Emit } from './output-items.ts';
import { imageOf } from './response-items.ts';
import { type ResponseEnd, responseEnd, type Writing } from './response-object.ts';

export interface ResponseSink {
  readonly emit: Emit;
  /** `tokens`: as the provider reported them. `model`: as it names it. */
  readonly end: (end: ResponseEnd, tokens: TokenReport | undefined, model: string) => void;
}

export function openResponseEvents(writing: Writing, { emit, end }: ResponseSink): (part: HubPart) => void {
  const { head } = writing;
  const items = createOutputItems(head, emit);
  const open = createOpenItem(items);
  const content = openContentItems(head, items, open);
  const calls = openCallItems(writing, items, open);
  let { model } = head;

  function addFile(part: PartOf<'file'>): void {
    const image = imageOf(part);
    if (image === undefined) return;
    open.close();
    items.addImage(image);
  }

  function finish({ finishReason, providerMetadata, usage }: PartOf<'finish'>): void {
    const ended = responseEnd(finishReason);
    open.close(ended.status);
    const refusal = ended.reason && head.refusalOf(providerMetadata);
    if (refusal !== undefined) items.addRefusal(refusal);
    end(ended, tokensOf(usage), model);
  }

  return (part) => {
    switch (part.type) {
      case 'response-metadata':
        model = part.modelId ?? model;
        return;
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return content.addText(part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return content.addReasoning(part);
      case 'file':
        return addFile(part);
      case 'tool-input-start':
        return part.providerExecuted === true ? undefined : calls.begin(part, part.id);
      case 'tool-input-delta':
        return calls.addArguments(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted === true ? undefined : calls.end(part);
      case 'finish':
        return finish(part);
    }
  };
}
