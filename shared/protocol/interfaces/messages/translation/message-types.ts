// Events of Messages that the gateway writes. Types only.
import type { UsageReport } from '../../../wire/index.ts';
import type { MessageChange, MessageObject } from './message-object.ts';

export type MessageBlock =
  | { readonly type: 'text'; readonly text: string; readonly citations: null }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: object;
      readonly caller: { readonly type: 'direct' };
    };

export type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string };

export type MessageEvent =
  | { readonly type: 'message_start'; readonly message: MessageObject }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: MessageBlock }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | { readonly type: 'message_delta'; readonly delta: MessageChange; readonly usage: object }
  | { readonly type: 'message_stop' };

/** Usage for the event with the stop reason. */
export interface Used {
  /** The report; undefined when the provider reported nothing. */
  readonly report: UsageReport | undefined;
  readonly outputBytes: number;
}

export type EmitEvent = (event: MessageEvent, used?: Used) => void;
