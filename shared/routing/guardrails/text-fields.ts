// Which fields hold texts, by interface. What is not listed counts as a text, so that no text passes unseen under a name that is
// new.
import type { InterfaceId } from '../../foundation/constants/index.ts';

const namesIn = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Fields whose own string, or list of strings, names or encodes something. Objects under these names are looked into. */
export const namingFields = namesIn(
  `role type id call_id tool_call_id tool_use_id item_id response_id file_id container_id skill_id name tool_name namespace
   server_label server_name object model status format detail url file_url image_url file_data b64_json partial_image_b64
   media_type mime_type signature thought_signature encrypted_content encrypted_index encrypted_stdout encrypted_value
   finish_reason native_finish_reason stop_reason stop_sequence effort verbosity display phase caller created_by obfuscation
   event_id required allowed_callers additional_properties $schema $ref $id language syntax ttl version`,
);

/** Fields that are not looked into. */
export const closedFields = namesIn('cache_control prompt_cache_breakpoint logprobs top_logprobs extra_content usage');

/** Fields at the top of a request that no model reads. */
const settings = namesIn(
  `model models provider cache preset usage user metadata stream stream_options store temperature top_p top_k n seed stop
   service_tier safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options tool_choice`,
);

const settingsOf: Readonly<Partial<Record<InterfaceId, ReadonlySet<string>>>> = {
  'chat-completions': settings.union(
    namesIn(
      'reasoning reasoning_effort modalities audio logit_bias plugins web_search_options parallel_tool_calls function_call',
    ),
  ),
  messages: settings.union(
    namesIn(
      'stop_sequences thinking container mcp_servers thread anthropic_version betas inference_geo speed fallbacks diagnostics',
    ),
  ),
  'count-tokens': settings.union(
    namesIn('stop_sequences thinking container mcp_servers thread anthropic_version betas'),
  ),
  responses: settings.union(
    namesIn('reasoning background include previous_response_id conversation truncation client_metadata'),
  ),
  embeddings: settings.union(namesIn('encoding_format dimensions input_type')),
};

export const isSetting = (interfaceId: InterfaceId, name: string): boolean =>
  (settingsOf[interfaceId] ?? settings).has(name);

/** Fields at the top of an answer that a model did not write. */
const answerFacts = namesIn(
  'id object created created_at model usage system_fingerprint service_tier provider type role x_groq gw',
);

/** Its task, and its text again, word by word. */
const transcriptionFacts = namesIn('task words');

/** A response repeats the settings of its request. */
export const isOfAnswer = (interfaceId: InterfaceId, name: string): boolean =>
  interfaceId === 'responses'
    ? name === 'output' || name === 'output_text'
    : !answerFacts.has(name) && !(interfaceId === 'transcriptions' && transcriptionFacts.has(name));

/** Lists that spell texts of an answer, as tokens or words. */
export type SpellingFields = ReadonlySet<string>;
export const logProbabilities: SpellingFields = namesIn('logprobs');
const spellingOfTranscription: SpellingFields = namesIn('logprobs words tokens');

/** Undefined for Messages, which have none: there a field of that name is an argument of a tool. */
export function spellingFieldsOf(interfaceId: InterfaceId): SpellingFields | undefined {
  if (interfaceId === 'messages') return undefined;
  return interfaceId === 'transcriptions' ? spellingOfTranscription : logProbabilities;
}

/** Arguments of a tool call: a string of JSON, or an object. */
export const callFields = namesIn('arguments partial_json');
/** The same where they are an object. */
export const callObjects = namesIn('arguments input');
